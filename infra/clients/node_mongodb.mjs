// A client for a stream on MongoDB, by its driver for Node: the protocol of docs/client.md.
// `npm install mongodb`. The options are those of MongoClient: maxPoolSize, waitQueueTimeoutMS, writeConcern, …
// Its retries are off unless `retryWrites` and `retryReads` are given.
import {
  MongoClient,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from "mongodb";

import { serve } from "./protocol.mjs";

// What the server answers to a write that it did not begin.
const NOT_PRIMARY = [10107, 13435];
// What it answers to one that it may have done: stepping or shutting down, interrupted, out of time.
const UNKNOWN = [11600, 11602, 91, 189, 64, 50, 79, 262];
// Why it did not, by the code of its answer.
const CAUSES = {
  10107: "not-primary",
  13435: "not-primary",
  91: "not-primary",
  189: "not-primary",
  11600: "not-primary",
  11602: "not-primary",
  50: "server-timeout",
  262: "server-timeout",
  64: "quorum-unavailable",
  112: "key-busy",
};
const DUPLICATE_KEY = 11000;

let records;

// The connection's `tls` in the driver's words.
function encryption(tls) {
  if (!tls?.enabled) return {};
  const words = {
    tlsCAFile: tls.ca_file,
    tlsCertificateKeyFile: tls.cert_file, // which holds the key as well
    tlsCertificateKeyFilePassword: tls.key_passphrase,
    tlsInsecure: tls.insecure_skip_verify,
  };
  return { tls: true, ...Object.fromEntries(Object.entries(words).filter(([, value]) => value)) };
}

async function open({ connection, options, namespace }) {
  const { username, password } = connection;
  const login = username ? { auth: { username, password } } : {};
  const usual = { writeConcern: { w: "majority" }, retryWrites: false, retryReads: false };
  const client = new MongoClient(connection.uri, { ...login, ...encryption(connection.tls), ...usual, ...options });
  await client.db("admin").command({ ping: 1 });
  records = client.db(namespace).collection("brownout_client");
  return { opened: "mongodb for Node", settings: options };
}

// Say whether a write took effect; it did not if its condition did not hold.
async function write({ key, writer, sequence, value, expect }) {
  const record = { writer, sequence, value };
  if (!expect) return (await records.replaceOne({ _id: key }, record, { upsert: true })).acknowledged;
  if (expect.missing) {
    return records.insertOne({ _id: key, ...record }).then(
      () => true,
      (error) => {
        if (error.code !== DUPLICATE_KEY || error instanceof MongoWriteConcernError) throw error;
        return false;
      },
    );
  }
  const stored = { _id: key, writer, sequence: { $gte: expect.first, $lte: expect.last } };
  return (await records.updateOne(stored, { $set: record })).matchedCount > 0;
}

async function work(r) {
  if (r.do === "write" && (await write(r))) return { end: "ok" };
  const stored = await records.findOne({ _id: r.key });
  return { end: r.do === "read" ? "ok" : "refused", value: stored?.value ?? null };
}

function causeOf(error) {
  if (error instanceof MongoNetworkTimeoutError) return "client-timeout-read";
  return error.cause?.code === "ECONNREFUSED" ? "connect-refused" : "connection-reset";
}

function ended(r, error) {
  const answer = { end: "failed", code: String(error.code ?? error.name) };
  if (error.name === "MongoWaitQueueTimeoutError") return { ...answer, cause: "pool-exhausted" };
  if (error instanceof MongoServerSelectionError) return { ...answer, cause: "no-node" };
  const unacknowledged = error instanceof MongoWriteConcernError; // done, and may be rolled back
  answer.cause = error instanceof MongoNetworkError ? causeOf(error) : CAUSES[error.code];
  if (NOT_PRIMARY.includes(error.code) && !unacknowledged) return answer;
  const refused = error instanceof MongoServerError && !UNKNOWN.includes(error.code) && !unacknowledged;
  return r.do === "write" && !refused ? { ...answer, end: "in_doubt" } : answer;
}

await serve({ open, work, ended });
