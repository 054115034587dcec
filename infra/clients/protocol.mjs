// The lines of docs/client.md for the clients in Node beside this file: copy it with them.

import { createInterface } from "node:readline";

export const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

// How an operation ended that has no answer at its deadline; it was sent.
const unanswered = (r) => ({ end: r.do === "write" ? "in_doubt" : "failed", cause: "client-timeout-total" });

// Answers every request: `open` connects, `work` does an operation and `ended` says how one ended that threw.
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
    if (request.do === "open") await open(request);
    else perform(request);
  }
  process.stdout.write("", () => process.exit(0));
}
