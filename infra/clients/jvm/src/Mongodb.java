// A client for a stream on MongoDB, by its driver for Java: the protocol of docs/client.md.
//
// The options are those of a connection string: maxPoolSize, waitQueueTimeoutMS, serverSelectionTimeoutMS,
// socketTimeoutMS, w, … The driver's retries are off unless retryWrites and retryReads are given.

import com.google.gson.JsonObject;
import com.mongodb.ConnectionString;
import com.mongodb.ErrorCategory;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.MongoServerException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOptions;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.bson.Document;

class Mongodb extends Client {
    /** What the server answers to a write that it may have done: interrupted, stepping or shutting down, out of time. */
    static final List<Integer> UNKNOWN = List.of(11600, 11602, 91, 189, 64, 50, 79, 262);
    static final Map<Integer, String> CAUSES = Map.of(
        10107, "not-primary", 13435, "not-primary", 189, "not-primary", 91, "not-primary", 11600, "not-primary",
        11602, "not-primary", 50, "server-timeout", 262, "server-timeout", 64, "quorum-unavailable", 112, "key-busy");

    MongoCollection<Document> records;

    public static void main(String[] arguments) throws Exception {
        new Mongodb().serve("MongoDB's driver for Java");
    }

    void open(Connection at, String namespace, JsonObject options) throws SSLException {
        var usual = "w=majority&retryWrites=false&retryReads=false";
        var own = options.asMap().entrySet().stream().map(
            each -> each.getKey() + "=" + encoded(each.getValue().getAsString()));
        var plain = at.uri().contains("?") ? at.uri() : at.uri().replaceFirst("^(\\w+://[^/]*)/?$", "$1/?");
        // Beside what the URI says of logging in: authSource, authMechanism.
        var login = at.username().isEmpty() ? "" : encoded(at.username()) + ":" + encoded(at.password()) + "@";
        var uri = plain.replaceFirst("://", "://" + login);
        var where = own.collect(Collectors.joining("&", uri + (uri.endsWith("?") ? "" : "&") + usual + "&", ""));
        var settings = MongoClientSettings.builder().applyConnectionString(new ConnectionString(where));
        if (at.encrypted()) {
            var context = at.context();
            settings.applyToSslSettings(tls ->
                tls.enabled(true).context(context).invalidHostNameAllowed(at.insecure()));
        }
        var client = MongoClients.create(settings.build());
        client.getDatabase("admin").runCommand(new Document("ping", 1));
        records = client.getDatabase(namespace).getCollection("brownout_client");
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    Done work(Operation operation) throws Late {
        operation.sends();
        if (operation.write && written(operation)) {
            return Done.WRITTEN;
        }
        var stored = records.find(Filters.eq(operation.key)).first();
        return new Done(false, stored == null ? null : stored.getString("value"));
    }

    boolean written(Operation operation) {
        var range = operation.range();
        var record = new Document("writer", operation.text("writer")).append("sequence", operation.sequence())
            .append("value", operation.text("value"));
        if (range != null) {
            var stored = Filters.and(Filters.eq(operation.key), Filters.eq("writer", operation.text("writer")),
                Filters.gte("sequence", range[0]), Filters.lte("sequence", range[1]));
            return records.updateOne(stored, new Document("$set", record)).getMatchedCount() > 0;
        }
        if (!operation.expectsNothing()) {
            records.replaceOne(Filters.eq(operation.key), record, new ReplaceOptions().upsert(true));
            return true;
        }
        try {
            records.insertOne(record.append("_id", operation.key));
            return true;
        } catch (MongoWriteException error) {
            if (error.getError().getCategory() != ErrorCategory.DUPLICATE_KEY) {
                throw error;
            }
            return false;
        }
    }

    Failure failure(Throwable error, String cause) {
        if (!(error instanceof MongoException mongo)) {
            return new Failure(error.getClass().getSimpleName(), cause, false);
        }
        var number = mongo.getCode();
        var code = number > 0 ? String.valueOf(number) : error.getClass().getSimpleName();
        if (error instanceof MongoTimeoutException) { // of the pool, or of the choice of a server
            var pool = String.valueOf(error.getMessage()).contains("waiting for a connection");
            return new Failure(code, pool ? "pool-exhausted" : "no-node", true);
        }
        if (error instanceof MongoWriteConcernException) { // done, and may be rolled back
            return new Failure(code, CAUSES.get(number), false);
        }
        if (error instanceof MongoSocketException) {
            var read = error instanceof MongoSocketReadTimeoutException ? "client-timeout-read" : "connection-reset";
            return new Failure(code, cause != null ? cause : read, false);
        }
        var known = error instanceof MongoServerException && !UNKNOWN.contains(number);
        return new Failure(code, CAUSES.get(number), known);
    }
}
