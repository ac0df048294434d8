import org.openapitools.client.ApiClient;
import org.openapitools.client.api.IntegrationApiApi;

public class Call {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    System.out.println(new IntegrationApiApi(client).apiMeRead().getInstallation().getStatus());
  }
}
