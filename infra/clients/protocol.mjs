// The lines of docs/client.md for the clients in Node beside this file: copy it with them.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// The connection's `tls` as Node takes it; undefined where nothing is encrypted.
export function encryption(tls) {
  const file = (name) => {
    if (!tls[name]) return undefined;
    try {
      return readFileSync(tls[name]);
    } catch (error) {
      throw new Error(`tls.${name}: ${error.message}`);
    }
  };
  if (!tls?.enabled) return undefined;
  return {
    ca: file("ca_file"),
    cert: file("cert_file"),
    key: file("key_file") ?? file("cert_file"), // which may hold both
    passphrase: tls.key_passphrase || undefined,
    rejectUnauthorized: !tls.insecure_skip_verify,
  };
}

// How an operation ended that has no answer at its deadline; it was sent.
const unanswered = (r) => ({ end: r.do === "write" ? "in_doubt" : "failed", cause: "client-timeout-total" });

// Answers every request: `open` connects and returns what the client says of itself, `work` does an operation and `ended` says how one ended that threw.
export async function serve({ open, work, ended, late = unanswered }) {
  function perform(r) {
    const deadline = setTimeout(() => {
      r.late = true;
      say({ id: r.id, ...late(r) });
    }, 0.98 * r.deadline_ms); // since an answer takes a moment
    const answer = (how) => {
      clearTimeout(deadline);
      if (!r.late) say({ id: r.id, ...how });
    };
    work(r).then(answer, (error) => answer(ended(r, error)));
  }

  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.do === "close") break;
    if (request.do === "open") {
      try {
        say(await open(request));
      } catch (error) {
        say({ error: error.message || String(error.errors?.[0] ?? error) });
      }
    }
    else perform(request);
  }
  process.stdout.write("", () => process.exit(0));
}
