// A client for a stream on Aerospike, by its client for Java: the protocol of docs/client.md.
//
// The options are fields of ClientPolicy (maxConnsPerNode, tendInterval, maxErrorRate, …) and of the policies of reads
// and writes (socketTimeout, totalTimeout, maxRetries, …), and `namespace`, without which it is the first of the server.
// The client's retries are off unless maxRetries is given.

import com.aerospike.client.AerospikeClient;
import com.aerospike.client.AerospikeException;
import com.aerospike.client.Bin;
import com.aerospike.client.Host;
import com.aerospike.client.Info;
import com.aerospike.client.Key;
import com.aerospike.client.ResultCode;
import com.aerospike.client.exp.Exp;
import com.aerospike.client.policy.ClientPolicy;
import com.aerospike.client.policy.Policy;
import com.aerospike.client.policy.RecordExistsAction;
import com.aerospike.client.policy.TlsPolicy;
import com.aerospike.client.policy.WritePolicy;
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.util.Map;
import javax.net.ssl.SSLException;

class Aerospike extends Client {
    static final Map<Integer, String> CAUSES = Map.of(
        ResultCode.MAX_ERROR_RATE, "circuit-breaker", ResultCode.NO_MORE_CONNECTIONS, "pool-exhausted",
        ResultCode.INVALID_NODE_ERROR, "no-node", ResultCode.PARTITION_UNAVAILABLE, "quorum-unavailable",
        ResultCode.DEVICE_OVERLOAD, "overloaded", ResultCode.KEY_BUSY, "key-busy",
        ResultCode.SERVER_MEM_ERROR, "stop-writes", ResultCode.FAIL_FORBIDDEN, "stop-writes");

    final Policy reads = new Policy();
    final WritePolicy writes = new WritePolicy();
    AerospikeClient client;
    String namespace, set;

    public static void main(String[] arguments) throws Exception {
        new Aerospike().serve("Aerospike's client for Java");
    }

    void open(Connection at, String place, JsonObject options)
            throws ReflectiveOperationException, SSLException {
        var all = new ClientPolicy();
        if (!at.username().isEmpty()) {
            all.user = at.username();
            all.password = at.password();
        }
        if (at.encrypted()) {
            all.tlsPolicy = new TlsPolicy();
            all.tlsPolicy.context = at.context();
        }
        reads.maxRetries = 0;
        for (var each : options.entrySet()) {
            var taken = each.getKey().equals("namespace");
            for (var policy : new Object[] {all, reads, writes}) {
                try {
                    var field = policy.getClass().getField(each.getKey());
                    field.set(policy, new Gson().fromJson(each.getValue(), field.getType()));
                    taken = true;
                } catch (NoSuchFieldException of) {
                    continue; // another of the three has it
                }
            }
            if (!taken) {
                throw new IllegalArgumentException("no policy has the option " + each.getKey());
            }
        }
        client = new AerospikeClient(all, at.addresses().map(
            each -> new Host(each.getHost(), at.encrypted() && !at.insecure() ? each.getHost() : null,
                each.getPort() < 0 ? 3000 : each.getPort())).toArray(Host[]::new));
        namespace = text(options, "namespace");
        if (namespace.isEmpty()) {
            namespace = Info.request(null, client.getNodes()[0], "namespaces").split(";")[0];
        }
        set = place + "-client";
    }

    Done work(Operation operation) throws Late {
        operation.sends();
        var key = new Key(namespace, set, operation.key);
        if (operation.write && written(operation, key)) {
            return Done.WRITTEN;
        }
        var record = client.get(reads, key, "value");
        return new Done(false, record == null ? null : record.getString("value"));
    }

    boolean written(Operation operation, Key key) {
        var policy = new WritePolicy(writes);
        var range = operation.range();
        if (range != null) {
            policy.recordExistsAction = RecordExistsAction.UPDATE_ONLY;
            policy.failOnFilteredOut = true;
            policy.filterExp = Exp.build(Exp.and(
                Exp.eq(Exp.stringBin("writer"), Exp.val(operation.text("writer"))),
                Exp.ge(Exp.intBin("sequence"), Exp.val(range[0])),
                Exp.le(Exp.intBin("sequence"), Exp.val(range[1]))));
        } else if (operation.expectsNothing()) {
            policy.recordExistsAction = RecordExistsAction.CREATE_ONLY;
        }
        try {
            client.put(policy, key, new Bin("writer", operation.text("writer")),
                new Bin("sequence", operation.sequence()), new Bin("value", operation.text("value")));
            return true;
        } catch (AerospikeException error) {
            switch (error.getResultCode()) {
                case ResultCode.KEY_EXISTS_ERROR, ResultCode.KEY_NOT_FOUND_ERROR, ResultCode.FILTERED_OUT -> {
                    return false;
                }
                default -> throw error;
            }
        }
    }

    Failure failure(Throwable error, String cause) {
        if (!(error instanceof AerospikeException aerospike)) {
            return new Failure(error.getClass().getSimpleName(), cause, false);
        }
        var number = aerospike.getResultCode();
        var known = CAUSES.get(number);
        if (aerospike instanceof AerospikeException.Timeout timeout) {
            known = timeout.client ? "client-timeout-total" : "server-timeout";
        }
        if (known == null) {
            var broken = number == ResultCode.SERVER_NOT_AVAILABLE ? "connection-reset" : null;
            known = cause != null ? cause : broken;
        }
        return new Failure(String.valueOf(number), known, !aerospike.getInDoubt());
    }
}
