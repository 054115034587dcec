// The protocol of docs/client.md in Node; put your own database where `records` is.
import { createInterface } from "node:readline";

const records = new Map(); // key -> {writer, sequence, value}
const valueOf = (record) => (record ? record.value : null);

async function read({ key }) {
  return { end: "ok", value: valueOf(records.get(key)) };
}

async function write({ key, writer, sequence, value, expect }) {
  const record = records.get(key);
  const fits = !expect ? true
    : expect.missing ? !record
    : record?.writer === writer && expect.first <= record.sequence && record.sequence <= expect.last;
  if (!fits) return { end: "refused", value: valueOf(record) };
  records.set(key, { writer, sequence, value });
  return { end: "ok" };
}

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.do === "close") break;
  if (request.do === "open") say({ opened: "reference in Node", settings: {} });
  else ({ read, write })[request.do](request).then((answer) => say({ id: request.id, ...answer }));
}
process.stdout.write("", () => process.exit(0));
