// A container's life: made, found again, described by its record, removed.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { SandboxClosedError } from "../../sandbox-errors.ts";
import { type SuiteContext, shell, textOf } from "./context.ts";

export function lifeTests({ test, sandbox, withContainer, options }: SuiteContext): void {
  const newId = () => `suite-${randomBytes(6).toString("hex")}`;

  test("all required probes of its own hold", async () => {
    const { isAvailable, probes } = await (await sandbox()).check();
    assert.deepEqual(
      probes.filter(({ holds, isRequired }) => isRequired && !holds),
      [],
    );
    assert.equal(isAvailable, true);
  });

  test("a container keeps its files and its record when it is closed and opened again", async () => {
    const tier = await sandbox();
    const id = newId();
    const first = await tier.open({ id, record: { owner: "a" } });
    assert.equal(first.isNew, true);
    await shell(first, "echo kept > file; echo gone > /tmp/file");
    await first.setRecord({ owner: "a", name: "mine" });
    await first.close();
    assert.deepEqual((await tier.containers()).find((one) => one.id === id)?.record, {
      owner: "a",
      name: "mine",
    });
    const second = await tier.open({ id, record: { owner: "ignored" } });
    assert.equal(second.isNew, false);
    assert.deepEqual(second.record, { owner: "a", name: "mine" });
    assert.equal(await textOf(second, "file"), "kept\n");
    await second.close({ removesFiles: true });
    assert.equal(
      (await tier.containers()).find((one) => one.id === id),
      undefined,
    );
  });

  test("another instance of the tier finds the container with its files, and can remove it", async () => {
    const tier = await sandbox();
    const id = newId();
    const container = await tier.open({ id, record: { owner: "b" } });
    await container.write("file", Buffer.from("kept"));
    await container.close();
    const restarted = await options.open();
    try {
      const found = await restarted.open({ id });
      assert.equal(await textOf(found, "file"), "kept");
      await restarted.remove(id);
      assert.equal(
        (await restarted.containers()).some((one) => one.id === id),
        false,
      );
      await restarted.remove(id);
    } finally {
      await restarted.close();
    }
  });

  test("a temporary container is not listed, and lasts once it has a record", async () => {
    const tier = await sandbox();
    const id = newId();
    const container = await tier.open({ id, isTemporary: true });
    const isListed = async () => (await tier.containers()).some((one) => one.id === id);
    assert.equal(await isListed(), false);
    await container.write("before", Buffer.from("1"));
    await container.setRecord({ owner: "c" });
    assert.equal(await isListed(), true);
    assert.equal((await shell(container, "cat before")).stdout, "1");
    await container.close();
    assert.equal(await isListed(), true);
    await tier.remove(id);
  });

  test("closing ends its processes, and later calls are refused", async () => {
    const tier = await sandbox();
    const container = await tier.open({ isTemporary: true });
    const execution = await container.exec({ command: ["sleep", "1000"] });
    await container.close();
    assert.equal((await execution.outcome).type, "lost");
    await assert.rejects(container.exec({ command: ["true"] }), SandboxClosedError);
    await container.close();
  });

  test("ids and records that are not valid are refused", async () => {
    const tier = await sandbox();
    for (const id of ["", "..", "a/b", "a b", "x".repeat(65)]) await assert.rejects(tier.open({ id }));
    await assert.rejects(tier.open({ record: { text: "x".repeat(20_000) } }));
  });

  test("two containers do not see each other's files", async () => {
    await withContainer({}, async (one) =>
      withContainer({}, async (other) => {
        await shell(one, "echo secret > secret; echo secret > /tmp/secret");
        const { stdout } = await shell(other, "ls -A /mnt/data /tmp /dev/shm");
        assert.equal(stdout.includes("secret"), false);
      }),
    );
  });
}
