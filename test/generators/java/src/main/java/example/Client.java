package example;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.oauth2.client.OAuth2AuthorizationContext;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.RefreshTokenOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.endpoint.NimbusJwtClientAuthenticationParametersConverter;
import org.springframework.security.oauth2.client.endpoint.OAuth2ClientCredentialsGrantRequest;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.OAuth2AuthorizationException;
import org.springframework.security.oauth2.server.resource.introspection.SpringOpaqueTokenIntrospector;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/** An OAuth client of Spring Security in its default settings. */
@SpringBootApplication
public class Client {
  public static void main(String[] args) {
    SpringApplication.run(Client.class, args);
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http) throws Exception {
    return http
        .authorizeHttpRequests(all -> all.anyRequest().permitAll())
        .oauth2Client(Customizer.withDefaults())
        .build();
  }
}

@RestController
class Pages {
  private final RestClient http = RestClient.create();
  private final ClientRegistrationRepository registrations;

  Pages(ClientRegistrationRepository registrations) {
    this.registrations = registrations;
  }

  /** Signs assertions with a new key: as Spring does by default, and as the guide has it. */
  @GetMapping("/assertions")
  Map<String, Object> assertions() throws JOSEException {
    RSAKey key = new RSAKeyGenerator(2048).keyID("spring").generate();
    var app =
        ClientRegistration.withClientRegistration(registrations.findByRegistrationId("platform"))
            .clientAuthenticationMethod(ClientAuthenticationMethod.PRIVATE_KEY_JWT)
            .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS)
            .build();
    var request = new OAuth2ClientCredentialsGrantRequest(app);
    var plain = new NimbusJwtClientAuthenticationParametersConverter<OAuth2ClientCredentialsGrantRequest>(any -> key);
    var guided = Assertions.<OAuth2ClientCredentialsGrantRequest>signedWith(key);
    return Map.of(
        "jwk", key.toPublicJWK().toJSONObject(),
        "plain", plain.convert(request).getFirst("client_assertion"),
        "issuer", guided.convert(request).getFirst("client_assertion"));
  }

  @GetMapping("/up")
  String up() {
    return "up";
  }

  /** Goes through what a client does with the tokens of a connected customer, and says what it saw. */
  @GetMapping("/seen")
  Map<String, Object> seen(@RegisteredOAuth2AuthorizedClient("platform") OAuth2AuthorizedClient client) {
    Map<String, Object> seen = new LinkedHashMap<>();
    ClientRegistration app = client.getClientRegistration();
    String base = app.getProviderDetails().getIssuerUri().replace("/connect", "");
    seen.put("installed", me(base, client.getAccessToken().getTokenValue()));
    seen.put("scope", String.join(" ", new TreeSet<>(client.getAccessToken().getScopes())));

    OAuth2AuthorizedClient next = refresh(client);
    String token = next.getAccessToken().getTokenValue();
    String refreshToken = next.getRefreshToken().getTokenValue();
    seen.put("refreshed", me(base, token));
    seen.put("rotated", !refreshToken.equals(client.getRefreshToken().getTokenValue()));

    Map<String, Object> metadata = app.getProviderDetails().getConfigurationMetadata();
    var introspector =
        SpringOpaqueTokenIntrospector.withIntrospectionUri((String) metadata.get("introspection_endpoint"))
            .clientId(app.getClientId())
            .clientSecret(app.getClientSecret())
            .build();
    var introspected = introspector.introspect(token).getAttributes();
    seen.put("active", introspected.get("active"));
    seen.put("client_id", app.getClientId().equals(introspected.get("client_id")));

    // Spring has no revocation of its own.
    var form = new LinkedMultiValueMap<String, String>();
    form.add("token", refreshToken);
    seen.put(
        "revoked",
        http.post()
            .uri((String) metadata.get("revocation_endpoint"))
            .headers(headers -> headers.setBasicAuth(app.getClientId(), app.getClientSecret()))
            .contentType(MediaType.APPLICATION_FORM_URLENCODED)
            .body(form)
            .exchange((request, response) -> response.getStatusCode().value()));
    seen.put("afterwards", me(base, token));
    try {
      refresh(next);
    } catch (OAuth2AuthorizationException refused) {
      seen.put("error", refused.getError().getErrorCode());
      seen.put("typed", refused.getClass().getSimpleName());
    }
    return seen;
  }

  private int me(String base, String token) {
    return http.get()
        .uri(base + "/api/v1/me")
        .headers(headers -> headers.setBearerAuth(token))
        .exchange((request, response) -> response.getStatusCode().value());
  }

  /** Refreshes as Spring does by itself once the access token has expired. */
  private OAuth2AuthorizedClient refresh(OAuth2AuthorizedClient client) {
    Authentication customer =
        new AnonymousAuthenticationToken("key", "customer", AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));
    var provider = new RefreshTokenOAuth2AuthorizedClientProvider();
    provider.setClock(Clock.offset(Clock.systemUTC(), Duration.ofHours(3)));
    return provider.authorize(
        OAuth2AuthorizationContext.withAuthorizedClient(client).principal(customer).build());
  }
}
