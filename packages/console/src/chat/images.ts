// Images for a message: read, made smaller if they are large, and limited in number and size.

const types = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const maxSourceBytes = 40_000_000;
/** Larger ones are made smaller: models see no more, and a request has a limit. */
const maxBytes = 1_000_000;
const maxPixels = 2_048;

export const maxImages = 6;

/** The image as a data URL. Throws an error for the person. */
export async function readImage(file: File): Promise<string> {
  if (!types.includes(file.type))
    throw new Error(`${file.name} is not an image that models take: PNG, JPEG, WebP or GIF.`);
  if (file.size > maxSourceBytes) throw new Error(`${file.name} is larger than 40 MB.`);
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} could not be read as an image.`);
  });
  try {
    const isSmall = file.size <= maxBytes && Math.max(bitmap.width, bitmap.height) <= maxPixels;
    return await toDataUrl(isSmall ? file : await shrink(bitmap));
  } finally {
    bitmap.close();
  }
}

/** The image files of a paste or a drop. */
export function imageFiles(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

async function shrink(bitmap: ImageBitmap): Promise<Blob> {
  const scale = Math.min(1, maxPixels / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (context) {
    // A JPEG has no transparency: without a background, it would be black.
    context.fillStyle = "white";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  }
  return new Promise((resolve, reject) => {
    const done = (blob: Blob | null) =>
      blob ? resolve(blob) : reject(new Error("The image could not be made smaller."));
    canvas.toBlob(done, "image/jpeg", 0.85);
  });
}

async function toDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The image could not be read.")));
    reader.readAsDataURL(blob);
  });
}
