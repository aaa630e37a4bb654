// Asks both servers, by the old client of Java and by the new one. Nothing here knows of retape.

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Client {
    public static void main(String[] servers) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (String url : new String[] {servers[0] + "/v1/agents", servers[1] + "/v1/models"}) {
            try (var stream = URI.create(url).toURL().openStream()) {
                System.out.println(new String(stream.readAllBytes()));
            }
            var request = HttpRequest.newBuilder(URI.create(url)).build();
            System.out.println(client.send(request, BodyHandlers.ofString()).body());
        }
    }
}
