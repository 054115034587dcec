// A client for a stream on PostgreSQL, by node-postgres and its pool: the protocol of docs/client.md.
// `npm install pg`. The options are those of pg's Pool: max, connectionTimeoutMillis, query_timeout, …
import pg from "pg";

import { encryption, serve } from "./protocol.mjs";

const TABLE = "brownout_client";
const COLUMNS = "(key text PRIMARY KEY, writer text, sequence bigint, value text)";
const MAKE = `INSERT INTO ${TABLE} VALUES ($1, $2, $3, $4) ON CONFLICT`;
const SET = "SET writer = $2, sequence = $3, value = $4";
const READ = `SELECT value FROM ${TABLE} WHERE key = $1`;
const WRITES = {
  any: `${MAKE} (key) DO UPDATE ${SET}`,
  missing: `${MAKE} DO NOTHING`,
  first: `UPDATE ${TABLE} ${SET} WHERE key = $1 AND writer = $2 AND sequence BETWEEN $5 AND $6`,
};

let pool;

// node-postgres has one address, so with several the one that takes writes is looked for.
async function open({ connection, options }) {
  const login = {
    user: connection.username || undefined,
    password: connection.password || undefined,
    database: connection.database || "postgres",
  };
  const tls = encryption(connection.tls);
  const refused = [];
  for (const address of connection.uri.replace(/^[^/]*\/\//, "").replace(/[/?].*/, "").split(",")) {
    const { hostname: host, port } = new URL(`postgresql://${address}`);
    const ssl = tls && { host, ...tls }; // whose name the certificate has to have
    const candidate = new pg.Pool({ host, port: Number(port || 5432), ssl, ...login, ...options });
    candidate.on("error", (error) => process.stderr.write(`${error.message}\n`)); // an idle one broke
    try {
      const { rows } = await candidate.query("SELECT pg_is_in_recovery() AS standby");
      if (rows[0].standby) throw new Error("it is a standby");
      await candidate.query(`CREATE TABLE IF NOT EXISTS ${TABLE} ${COLUMNS}`);
      pool = candidate;
      return { opened: "node-postgres", settings: options };
    } catch (error) {
      refused.push(`${address}: ${error.message || error.code}`);
      await candidate.end();
    }
  }
  throw new Error(`no address leads to a server that takes writes: ${refused.join("; ")}`);
}

// Why the server did not do what was asked, by its SQLSTATE; the others are of the connection.
const CAUSES = {
  25006: "not-primary",
  40001: "key-busy",
  "40P01": "key-busy",
  53300: "overloaded",
  57014: "server-timeout",
  "57P01": "no-node",
  "57P03": "no-node",
  ECONNREFUSED: "connect-refused",
  ECONNRESET: "connection-reset",
  EPIPE: "connection-reset",
  "Connection terminated unexpectedly": "connection-reset",
  "Connection terminated due to connection timeout": "client-timeout-connect",
  "timeout exceeded when trying to connect": "pool-exhausted",
  "Query read timeout": "client-timeout-read",
};

// Node's own errors have codes, too, such as EPIPE; only those of the server are SQLSTATEs.
const sqlstateOf = (error) => (error instanceof pg.DatabaseError ? error.code : undefined);

async function work(r) {
  const connection = await pool.connect();
  let broken;
  try {
    if (r.late) return {}; // its deadline passed in the queue, and nothing was sent
    r.sent = true;
    if (r.do === "write") {
      const { expect = { any: true } } = r;
      const range = "first" in expect ? [expect.first, expect.last] : [];
      const values = [r.key, r.writer, r.sequence, r.value, ...range];
      if ((await connection.query(WRITES[Object.keys(expect)[0]], values)).rowCount) return { end: "ok" };
    }
    const { rows } = await connection.query(READ, [r.key]);
    return { end: r.do === "read" ? "ok" : "refused", value: rows[0]?.value ?? null };
  } catch (error) {
    broken = sqlstateOf(error) ? undefined : error;
    throw error;
  } finally {
    connection.release(broken);
  }
}

function ended(r, error) {
  const code = error.code ?? error.message;
  const sqlstate = sqlstateOf(error);
  const unknown = r.sent && r.do === "write" && /^(57|08|40003)/.test(sqlstate ?? "57"); // without one the connection broke
  return { end: unknown ? "in_doubt" : "failed", code, cause: CAUSES[code] };
}

// What waits for a connection at its deadline was not sent.
function late(r) {
  const unknown = r.sent && r.do === "write";
  return { end: unknown ? "in_doubt" : "failed", cause: r.sent ? "client-timeout-total" : "pool-exhausted" };
}

await serve({ open, work, ended, late });
