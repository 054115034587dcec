// A client for a stream on PostgreSQL, by HikariCP and pgjdbc: the protocol of docs/client.md.
//
//     mvn dependency:copy-dependencies
//     java -cp 'target/dependency/*' Client.java
//
// The options are those of HikariConfig: maximumPoolSize, connectionTimeout, maxLifetime, keepaliveTime, … Those that
// begin with `dataSource.` go to pgjdbc, as dataSource.socketTimeout.

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

public class Client {
    static final String TABLE = "brownout_client";
    static final String COLUMNS = "(key text PRIMARY KEY, writer text, sequence bigint, value text)";
    static final String MAKE = "INSERT INTO " + TABLE + " (writer, sequence, value, key) VALUES (?, ?, ?, ?) ON CONFLICT ";
    static final String ALWAYS = MAKE
        + "(key) DO UPDATE SET writer = excluded.writer, sequence = excluded.sequence, value = excluded.value";
    static final String MISSING = MAKE + "DO NOTHING";
    static final String UPDATE = "UPDATE " + TABLE + " SET writer = ?, sequence = ?, value = ?"
        + " WHERE key = ? AND writer = ? AND sequence BETWEEN ? AND ?";
    static final String READ = "SELECT value FROM " + TABLE + " WHERE key = ?";
    // SQLSTATEs of a server that may have done what was asked: shut down, cut off, unknown to itself.
    static final List<String> UNKNOWN = List.of("57", "08", "40003");

    static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    static final ExecutorService WORKERS = Executors.newCachedThreadPool(); // the pool limits, not the threads
    static final ScheduledExecutorService DEADLINES = Executors.newSingleThreadScheduledExecutor();
    static HikariDataSource pool;

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null;) {
            var request = JsonParser.parseString(line).getAsJsonObject();
            switch (request.get("do").getAsString()) {
                case "close" -> System.exit(0);
                case "open" -> open(request);
                default -> new Operation(request).start();
            }
        }
        System.exit(0);
    }

    static void open(JsonObject request) {
        var at = request.getAsJsonObject("connection");
        var options = request.getAsJsonObject("options");
        var hosts = URI.create(at.get("uri").getAsString()).getRawAuthority();
        var properties = new Properties();
        options.asMap().forEach((name, value) -> properties.setProperty(name, value.getAsString()));
        var answer = new JsonObject();
        try {
            var config = new HikariConfig(properties);
            // Of several addresses the one of the primary is taken; one address is to lead to it by itself.
            var which = hosts.contains(",") ? "?targetServerType=primary" : "";
            config.setJdbcUrl("jdbc:postgresql://" + hosts + "/postgres" + which);
            config.setUsername(at.get("username").getAsString());
            config.setPassword(at.get("password").getAsString());
            pool = new HikariDataSource(config);
            try (var connection = pool.getConnection(); var statement = connection.createStatement()) {
                statement.execute("CREATE TABLE IF NOT EXISTS " + TABLE + " " + COLUMNS);
            }
            answer.addProperty("opened", "HikariCP with pgjdbc");
            answer.add("settings", options);
        } catch (RuntimeException | SQLException error) {
            answer.addProperty("error", String.valueOf(error.getMessage()));
        }
        say(answer);
    }

    static synchronized void say(JsonObject answer) {
        OUT.println(answer);
    }

    static class Operation {
        final JsonObject request;
        final boolean write;
        final AtomicBoolean answered = new AtomicBoolean();
        volatile boolean sent;

        Operation(JsonObject request) {
            this.request = request;
            this.write = text("do").equals("write");
        }

        void start() {
            var deadline = DEADLINES.schedule(
                () -> answer(failed(null, sent ? "client-timeout-total" : "pool-exhausted", sent)),
                request.get("deadline_ms").getAsLong(), TimeUnit.MILLISECONDS);
            WORKERS.execute(() -> {
                try {
                    answer(work());
                } catch (RuntimeException | SQLException error) {
                    answer(ended(error));
                } finally {
                    deadline.cancel(false);
                }
            });
        }

        JsonObject work() throws SQLException {
            try (var connection = pool.getConnection()) {
                if (answered.get()) {
                    return new JsonObject(); // its deadline passed in the queue, and nothing was sent
                }
                sent = true;
                if (write && written(connection)) {
                    return end("ok");
                }
                var answer = end(write ? "refused" : "ok");
                answer.addProperty("value", stored(connection));
                return answer;
            }
        }

        boolean written(Connection connection) throws SQLException {
            var expect = request.getAsJsonObject("expect");
            var range = expect != null && expect.has("first");
            var values = Stream.<Object>of(text("writer"), request.get("sequence").getAsLong(), text("value"), text("key"));
            if (range) {
                values = Stream.concat(values,
                    Stream.of(text("writer"), expect.get("first").getAsLong(), expect.get("last").getAsLong()));
            }
            try (var statement = prepared(connection, expect == null ? ALWAYS : range ? UPDATE : MISSING, values.toArray())) {
                return statement.executeUpdate() > 0;
            }
        }

        String stored(Connection connection) throws SQLException {
            try (var statement = prepared(connection, READ, text("key")); ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getString(1) : null;
            }
        }

        static PreparedStatement prepared(Connection connection, String words, Object... values) throws SQLException {
            var statement = connection.prepareStatement(words);
            for (int n = 0; n < values.length; n++) {
                statement.setObject(n + 1, values[n]);
            }
            return statement;
        }

        JsonObject ended(Exception error) {
            var state = error instanceof SQLException sql ? sql.getSQLState() : null;
            var code = state != null ? state : error.getClass().getSimpleName();
            // HikariCP gives the time-out a cause if it could not connect; without one the pool was in use.
            if (!sent && error instanceof SQLTransientConnectionException && error.getCause() == null) {
                return failed(code, "pool-exhausted", false);
            }
            // Without a SQLSTATE the connection broke, and what was sent may be done.
            var unknown = state == null || UNKNOWN.stream().anyMatch(state::startsWith);
            return failed(code, "25006".equals(state) ? "not-primary" : null, sent && unknown);
        }

        JsonObject failed(String code, String cause, boolean unknown) {
            var answer = end(write && unknown ? "in_doubt" : "failed");
            if (code != null) {
                answer.addProperty("code", code);
            }
            if (cause != null) {
                answer.addProperty("cause", cause);
            }
            return answer;
        }

        void answer(JsonObject answer) {
            if (answered.compareAndSet(false, true)) {
                say(answer);
            }
        }

        JsonObject end(String end) {
            var answer = new JsonObject();
            answer.add("id", request.get("id"));
            answer.addProperty("end", end);
            return answer;
        }

        String text(String name) {
            return request.get(name).getAsString();
        }
    }
}
