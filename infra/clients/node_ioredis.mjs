// A client for a stream on Redis Cluster, by ioredis: the protocol of docs/client.md.
// `npm install ioredis`. The options are those of its Cluster: slotsRefreshInterval, redisOptions: {socketTimeout}, …
// `retryDelayOnFailover` is 0: if it is more, ioredis sends what a broken connection had not answered again, and such a
// write may take effect twice.
import { Cluster, Redis, ReplyError } from "ioredis";

import { encryption, serve } from "./protocol.mjs";

// Answers nil once it is written, else {what is stored} or {}.
const WRITE = `
local at = redis.call('HMGET', KEYS[1], 'writer', 'sequence', 'value')
local fits = true
if ARGV[4] == 'missing' then fits = not at[1] end
if ARGV[4] == 'first' then
  local n = tonumber(at[2] or -1)
  fits = at[1] == ARGV[1] and n >= tonumber(ARGV[5]) and n <= tonumber(ARGV[6])
end
if not fits then return {at[3]} end
redis.call('HSET', KEYS[1], 'writer', ARGV[1], 'sequence', ARGV[2], 'value', ARGV[3])
return nil
`;
// Why the server did not do what was asked, by the code of its answer.
const CAUSES = {
  READONLY: "not-primary",
  MOVED: "not-primary",
  CLUSTERDOWN: "quorum-unavailable",
  NOREPLICAS: "quorum-unavailable",
  LOADING: "no-node",
  MASTERDOWN: "no-node",
};

let cluster, namespace;

async function open({ connection, options, ...opening }) {
  namespace = opening.namespace;
  const hosts = connection.uri.replace(/^[^/]*\/\//, "").replace(/[/?].*/, "").split(",");
  const nodes = hosts.map((each) => {
    const { hostname: host, port } = new URL(`redis://${each}`);
    return { host, port: Number(port || 6379) };
  });
  const login = { username: connection.username || undefined, password: connection.password || undefined };
  const redisOptions = { ...login, tls: encryption(connection.tls), ...options.redisOptions };
  cluster = new Cluster(nodes, { retryDelayOnFailover: 0, ...options, redisOptions, lazyConnect: true });
  cluster.on("error", (error) => process.stderr.write(`${error.message}\n`));
  await cluster.connect().catch(async (error) => {
    let why = error; // "Connection is closed."; one node by itself says why
    const node = new Redis({ ...nodes[0], ...redisOptions, lazyConnect: true, retryStrategy: null });
    node.on("error", (of) => (why = of));
    await node.connect().catch(() => node.disconnect());
    throw why;
  });
  return { opened: "ioredis", settings: options };
}

async function work(r) {
  const key = `${namespace}/client/${r.key}`;
  if (r.do === "read") return { end: "ok", value: await cluster.hget(key, "value") };
  const { expect = { any: true } } = r;
  const range = [expect.first ?? 0, expect.last ?? 0];
  const stored = await cluster.eval(WRITE, 1, key, r.writer, r.sequence, r.value, Object.keys(expect)[0], ...range);
  return stored === null ? { end: "ok" } : { end: "refused", value: stored[0] ?? null };
}

// What an error of the connection is, by its code or else its words.
const BROKEN = {
  ECONNREFUSED: "connect-refused",
  ECONNRESET: "connection-reset",
  EPIPE: "connection-reset",
  ETIMEDOUT: "client-timeout-connect",
  "Connection is closed.": "connection-reset",
  "Command timed out": "client-timeout-read",
  "Failed to refresh slots cache.": "no-node",
  "None of startup nodes is available": "no-node",
};

function ended(r, error) {
  if (!(error instanceof ReplyError)) {
    const [, last] = /^Too many Cluster redirections.* ReplyError: (\w+)/.exec(error.message) ?? [];
    const cause = BROKEN[error.code] ?? BROKEN[error.message] ?? CAUSES[last];
    return { end: r.do === "write" ? "in_doubt" : "failed", code: error.message, cause };
  }
  const code = error.message.split(" ")[0];
  return { end: "failed", code, cause: CAUSES[code] };
}

await serve({ open, work, ended });
