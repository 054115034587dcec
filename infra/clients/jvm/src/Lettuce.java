// A client for a stream on Redis Cluster, by Lettuce: the protocol of docs/client.md.
//
// Options, all of which are Lettuce's own unless they are given:
//
//     timeoutMs, connectTimeoutMs, tcpUserTimeoutMs  of a command, of a connection, of bytes without acknowledgement
//     keepAlive                                      TCP keep-alive
//     periodicRefreshMs                              how often the topology is looked at; without it never
//     adaptiveRefresh                                whether it is looked at after redirects and reconnects
//     adaptiveRefreshMs                              how long it then is not looked at again
//     disconnectedBehavior                           DEFAULT, ACCEPT_COMMANDS or REJECT_COMMANDS
//     readFrom                                       master, replicaPreferred, nearest, …
//     replay                                         what a broken connection had not answered is sent again; here false,
//                                                    since such a write may take effect twice

import com.google.gson.JsonObject;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

class Lettuce extends Client {
    // Answers {'written'}, or {'refused', what is stored}.
    static final String WRITE = """
        local at = redis.call('HMGET', KEYS[1], 'writer', 'sequence', 'value')
        local fits = true
        if ARGV[4] == 'missing' then fits = not at[1] end
        if ARGV[4] == 'first' then
          local n = tonumber(at[2] or -1)
          fits = at[1] == ARGV[1] and n >= tonumber(ARGV[5]) and n <= tonumber(ARGV[6])
        end
        if not fits then return {'refused', at[3]} end
        redis.call('HSET', KEYS[1], 'writer', ARGV[1], 'sequence', ARGV[2], 'value', ARGV[3])
        return {'written'}
        """;
    // Why the server did not do what was asked, by the code of its answer.
    static final Map<String, String> CAUSES = Map.of(
        "READONLY", "not-primary", "MOVED", "not-primary", "ASK", "not-primary", "TRYAGAIN", "not-primary",
        "CLUSTERDOWN", "quorum-unavailable", "NOREPLICAS", "quorum-unavailable",
        "LOADING", "no-node", "MASTERDOWN", "no-node", "OOM", "stop-writes", "MISCONF", "stop-writes");

    RedisAdvancedClusterAsyncCommands<String, String> redis;
    String namespace;

    public static void main(String[] arguments) throws Exception {
        new Lettuce().serve("Lettuce");
    }

    void open(Connection at, String place, JsonObject options) {
        namespace = place;
        var nodes = at.addresses().map(each -> {
            var node = RedisURI.Builder.redis(each.getHost(), each.getPort() < 0 ? 6379 : each.getPort());
            if (!at.password().isEmpty()) {
                node.withAuthentication(at.username().isEmpty() ? "default" : at.username(), at.password());
            }
            if (at.encrypted()) {
                node.withSsl(true).withVerifyPeer(!at.insecure());
            }
            return node.build();
        }).toList();
        var client = RedisClusterClient.create(nodes);
        var socket = SocketOptions.builder();
        var refresh = ClusterTopologyRefreshOptions.builder();
        var all = ClusterClientOptions.builder();
        if (at.encrypted()) {
            all.sslOptions(SslOptions.builder().jdkSslProvider().sslContext(at::certificates).build());
        }
        if (options.has("timeoutMs")) {
            all.timeoutOptions(TimeoutOptions.enabled(ms(options, "timeoutMs")));
        }
        if (options.has("connectTimeoutMs")) {
            socket.connectTimeout(ms(options, "connectTimeoutMs"));
        }
        if (options.has("tcpUserTimeoutMs")) {
            socket.tcpUserTimeout(SocketOptions.TcpUserTimeoutOptions.builder()
                .tcpUserTimeout(ms(options, "tcpUserTimeoutMs")).enable().build());
        }
        if (options.has("keepAlive")) {
            socket.keepAlive(options.get("keepAlive").getAsBoolean());
        }
        if (options.has("periodicRefreshMs")) {
            refresh.enablePeriodicRefresh(ms(options, "periodicRefreshMs"));
        }
        if (options.has("adaptiveRefresh")) {
            if (flag(options, "adaptiveRefresh")) {
                refresh.enableAllAdaptiveRefreshTriggers();
            } else {
                refresh.disableAllAdaptiveRefreshTriggers();
            }
        }
        if (options.has("adaptiveRefreshMs")) {
            refresh.adaptiveRefreshTriggersTimeout(ms(options, "adaptiveRefreshMs"));
        }
        if (options.has("disconnectedBehavior")) {
            all.disconnectedBehavior(DisconnectedBehavior.valueOf(text(options, "disconnectedBehavior")));
        }
        if (!flag(options, "replay")) {
            all.replayFilter(command -> true); // none of them
        }
        client.setOptions(all.socketOptions(socket.build()).topologyRefreshOptions(refresh.build()).build());
        var connection = client.connect();
        if (options.has("readFrom")) {
            connection.setReadFrom(ReadFrom.valueOf(text(options, "readFrom")));
        }
        redis = connection.async();
    }

    static Duration ms(JsonObject options, String name) {
        return Duration.ofMillis(options.get(name).getAsLong());
    }

    Done work(Operation operation) throws Late {
        operation.sends();
        var key = namespace + "/client/" + operation.key;
        if (!operation.write) {
            return new Done(false, answer(operation, redis.hget(key, "value")));
        }
        var range = operation.range();
        var condition = range != null ? "first" : operation.expectsNothing() ? "missing" : "any";
        List<String> answer = answer(operation, redis.eval(
            WRITE, ScriptOutputType.MULTI, new String[] {key}, operation.text("writer"), "" + operation.sequence(),
            operation.text("value"), condition, range == null ? "" : "" + range[0], range == null ? "" : "" + range[1]));
        return answer.size() == 1 ? Done.WRITTEN : new Done(false, answer.get(1));
    }

    /** Wait until the deadline; then the command is cancelled, and not sent if it was not yet. */
    static <T> T answer(Operation operation, RedisFuture<T> future) {
        return LettuceFutures.awaitOrCancel(future, operation.deadlineMs(), TimeUnit.MILLISECONDS);
    }

    Failure failure(Throwable error, String cause) {
        if (error instanceof RedisCommandExecutionException) {
            var code = error.getMessage().split(" ")[0];
            return new Failure(code, CAUSES.get(code), true);
        }
        var words = String.valueOf(error.getMessage());
        var code = error.getClass().getSimpleName();
        if (error instanceof RedisCommandTimeoutException) {
            return new Failure(code, "client-timeout-total", false);
        }
        // Lettuce has no exception of its own for these.
        var unsent = words.contains("Currently not connected") || words.contains("Cannot determine a partition");
        var broken = error instanceof RedisException && (words.contains("Connection closed") || words.contains("disconnected"));
        return new Failure(code, unsent ? "no-node" : cause == null && broken ? "connection-reset" : cause, unsent);
    }
}
