// A client for a stream on PostgreSQL, by HikariCP and pgjdbc: the protocol of docs/client.md.
//
// The options are those of HikariConfig: maximumPoolSize, connectionTimeout, maxLifetime, keepaliveTime, … Those that
// begin with `dataSource.` go to pgjdbc, as dataSource.socketTimeout.

import com.google.gson.JsonObject;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.postgresql.ssl.WrappedFactory;

class Hikari extends Client {
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
    static final Map<String, String> CAUSES = Map.of(
        "25006", "not-primary", "40001", "key-busy", "40P01", "key-busy", "53300", "overloaded",
        "57014", "server-timeout", "57P01", "no-node", "57P03", "no-node");

    static SSLContext context;
    HikariDataSource pool;

    /** What pgjdbc makes by its name to encrypt a connection; its own wants the key in DER form. */
    public static final class Sockets extends WrappedFactory {
        public Sockets() {
            factory = context.getSocketFactory();
        }
    }

    public static void main(String[] arguments) throws Exception {
        new Hikari().serve("HikariCP with pgjdbc");
    }

    void open(Connection at, String namespace, JsonObject options) throws SQLException, SSLException {
        var hosts = URI.create(at.uri()).getRawAuthority();
        var properties = new Properties();
        options.asMap().forEach((name, value) -> properties.setProperty(name, value.getAsString()));
        var config = new HikariConfig(properties);
        // Of several addresses the one of the primary is taken; one address is to lead to it by itself.
        var which = hosts.contains(",") ? "?targetServerType=primary" : "";
        var database = at.database().isEmpty() ? "postgres" : at.database();
        config.setJdbcUrl("jdbc:postgresql://" + hosts + "/" + database + which);
        config.addDataSourceProperty("sslmode", !at.encrypted() ? "disable" : at.insecure() ? "require" : "verify-full");
        if (at.encrypted()) {
            context = at.context();
            config.addDataSourceProperty("sslfactory", Sockets.class.getName());
        }
        config.setUsername(at.username());
        config.setPassword(at.password());
        pool = new HikariDataSource(config);
        try (var connection = pool.getConnection(); var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS " + TABLE + " " + COLUMNS);
        }
    }

    Done work(Operation operation) throws SQLException, Late {
        try (var connection = pool.getConnection()) {
            operation.sends();
            if (operation.write) {
                var range = operation.range();
                var values = Stream.<Object>of(
                    operation.text("writer"), operation.sequence(), operation.text("value"), operation.key);
                if (range != null) {
                    values = Stream.concat(values, Stream.of(operation.text("writer"), range[0], range[1]));
                }
                var words = range != null ? UPDATE : operation.expectsNothing() ? MISSING : ALWAYS;
                try (var statement = filled(connection.prepareStatement(words), values.toArray())) {
                    if (statement.executeUpdate() > 0) {
                        return Done.WRITTEN;
                    }
                }
            }
            try (var statement = filled(connection.prepareStatement(READ), operation.key);
                    var rows = statement.executeQuery()) {
                return new Done(false, rows.next() ? rows.getString(1) : null);
            }
        }
    }

    static PreparedStatement filled(PreparedStatement statement, Object... values) throws SQLException {
        for (int n = 0; n < values.length; n++) {
            statement.setObject(n + 1, values[n]);
        }
        return statement;
    }

    Failure failure(Throwable error, String cause) {
        var state = error instanceof SQLException sql ? sql.getSQLState() : null;
        var code = state != null ? state : error.getClass().getSimpleName();
        if (error instanceof SQLTransientConnectionException) { // the pool lent none
            // HikariCP gives the time-out a cause if it could not connect; without one the pool was in use.
            return new Failure(code, error.getCause() == null ? "pool-exhausted" : cause != null ? cause : "no-node", true);
        }
        var known = state != null && UNKNOWN.stream().noneMatch(state::startsWith);
        var broken = cause == null && state != null && state.startsWith("08") ? "connection-reset" : cause;
        return new Failure(code, state != null && CAUSES.containsKey(state) ? CAUSES.get(state) : broken, known);
    }
}
