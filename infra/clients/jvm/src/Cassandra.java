// A client for a stream on Cassandra, by its driver for Java: the protocol of docs/client.md.
//
// The options are those of the driver's configuration, as "basic.request.timeout": "900 milliseconds" or
// "advanced.connection.pool.local.size": 4. Every write is a lightweight transaction. Consistency is QUORUM unless
// "basic.request.consistency" says otherwise.

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.api.core.ssl.ProgrammaticSslEngineFactory;
import com.google.gson.JsonObject;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLException;

class Cassandra extends Client {
    static final String SET = "UPDATE records SET writer = ?, sequence = ?, value = ? WHERE key = ? IF ";

    CqlSession session;
    PreparedStatement read, make, replace, update;

    public static void main(String[] arguments) throws Exception {
        new Cassandra().serve("Cassandra's driver for Java");
    }

    void open(Connection at, String namespace, JsonObject options) throws SSLException {
        var configuration = new StringBuilder("""
            datastax-java-driver.basic.load-balancing-policy.class = DcInferringLoadBalancingPolicy
            datastax-java-driver.basic.request.consistency = QUORUM
            """);
        options.asMap().forEach((name, value) ->
            configuration.append("datastax-java-driver.").append(name).append(" = ").append(value).append('\n'));
        var builder = CqlSession.builder().withConfigLoader(DriverConfigLoader.fromString(configuration.toString()));
        at.addresses().forEach(each -> builder.addContactPoint(
            new InetSocketAddress(each.getHost(), each.getPort() < 0 ? 9042 : each.getPort())));
        if (!at.username().isEmpty()) {
            builder.withAuthCredentials(at.username(), at.password());
        }
        if (at.encrypted()) {
            builder.withSslEngineFactory(new ProgrammaticSslEngineFactory(at.context(), null, !at.insecure()));
        }
        session = builder.build();
        var keyspace = '"' + namespace + "_client\"";
        for (var definition : List.of(
                "CREATE KEYSPACE IF NOT EXISTS " + keyspace
                    + " WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3}",
                "CREATE TABLE IF NOT EXISTS " + keyspace
                    + ".records (key text PRIMARY KEY, writer text, sequence bigint, value text)",
                "USE " + keyspace)) {
            session.execute(SimpleStatement.newInstance(definition).setTimeout(Duration.ofSeconds(30)));
        }
        read = session.prepare("SELECT value FROM records WHERE key = ?");
        make = session.prepare("INSERT INTO records (writer, sequence, value, key) VALUES (?, ?, ?, ?) IF NOT EXISTS");
        replace = session.prepare(SET + "EXISTS");
        update = session.prepare(SET + "writer = ? AND sequence >= ? AND sequence <= ?");
    }

    Done work(Operation operation) throws Late {
        operation.sends();
        if (operation.write && written(operation)) {
            return Done.WRITTEN;
        }
        var row = session.execute(read.bind(operation.key)).one();
        return new Done(false, row == null ? null : row.getString("value"));
    }

    boolean written(Operation operation) {
        var range = operation.range();
        if (range != null) {
            return applied(update, operation, operation.text("writer"), range[0], range[1]);
        }
        if (operation.expectsNothing()) {
            return applied(make, operation);
        }
        return applied(make, operation) || applied(replace, operation) || applied(make, operation);
    }

    boolean applied(PreparedStatement statement, Operation operation, Object... condition) {
        var values = new Object[4 + condition.length];
        values[0] = operation.text("writer");
        values[1] = operation.sequence();
        values[2] = operation.text("value");
        values[3] = operation.key;
        System.arraycopy(condition, 0, values, 4, condition.length);
        return session.execute(statement.bind(values)).wasApplied();
    }

    Failure failure(Throwable error, String cause) {
        var why = error;
        if (error instanceof AllNodesFailedException all) { // each node was not reached, or said that it did nothing
            var errors = all.getAllErrors().values().stream().flatMap(each -> each.stream()).toList();
            if (errors.isEmpty()) {
                return new Failure("NoNodeAvailableException", "no-node", true);
            }
            why = errors.get(errors.size() - 1);
        }
        var code = why.getClass().getSimpleName();
        if (why instanceof NodeUnavailableException || why instanceof BootstrappingException) {
            return new Failure(code, "no-node", true);
        }
        if (why instanceof BusyConnectionException || why instanceof RequestThrottlingException) {
            return new Failure(code, "pool-exhausted", true);
        }
        if (why instanceof UnavailableException) {
            return new Failure(code, "quorum-unavailable", true);
        }
        if (why instanceof QueryValidationException) {
            return new Failure(code, null, true);
        }
        if (why instanceof OverloadedException) {
            return new Failure(code, "overloaded", false);
        }
        if (why instanceof WriteTimeoutException || why instanceof ReadTimeoutException || why instanceof CASWriteUnknownException) {
            return new Failure(code, "server-timeout", false);
        }
        if (why instanceof DriverTimeoutException) {
            return new Failure(code, "client-timeout-total", false);
        }
        if (cause == null && (why instanceof ClosedConnectionException || why instanceof HeartbeatException)) {
            cause = "connection-reset";
        }
        return new Failure(code, cause, error != why);
    }
}
