// An OAuth client of golang.org/x/oauth2 in its default settings. Prints what it saw as one JSON object per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

func tell(what map[string]any) {
	line, _ := json.Marshal(what)
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func me(base, token string) int {
	request, err := http.NewRequest("GET", base+"/api/v1/me", nil)
	must(err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(err)
	return response.StatusCode
}

func main() {
	ctx := context.Background()
	base, id, secret, redirect := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	config := &oauth2.Config{
		ClientID:     id,
		ClientSecret: secret,
		RedirectURL:  redirect,
		Scopes:       []string{"runs:write"},
		Endpoint:     oauth2.Endpoint{AuthURL: base + "/connect/authorize", TokenURL: base + "/connect/token"},
	}
	verifier := oauth2.GenerateVerifier()
	tell(map[string]any{"authorize": config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier))})
	code, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
	token, err := config.Exchange(ctx, strings.TrimSpace(code), oauth2.VerifierOption(verifier))
	must(err)
	tell(map[string]any{"installed": me(base, token.AccessToken)})

	expired := *token
	expired.Expiry = time.Now().Add(-time.Hour)
	refreshed, err := config.TokenSource(ctx, &expired).Token()
	must(err)
	rotated := refreshed.RefreshToken != token.RefreshToken
	tell(map[string]any{"refreshed": me(base, refreshed.AccessToken), "rotated": rotated})

	// The library has no introspection and no revocation of its own.
	post := func(path, token string) *http.Response {
		form := url.Values{"token": {token}}
		request, err := http.NewRequest("POST", base+path, strings.NewReader(form.Encode()))
		must(err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		response, err := http.DefaultClient.Do(request)
		must(err)
		return response
	}
	var introspected struct {
		Active   bool   `json:"active"`
		ClientID string `json:"client_id"`
	}
	must(json.NewDecoder(post("/connect/introspect", refreshed.AccessToken).Body).Decode(&introspected))
	tell(map[string]any{"active": introspected.Active, "client_id": introspected.ClientID == id})
	revoked := post("/connect/revoke", refreshed.RefreshToken)
	tell(map[string]any{"revoked": revoked.StatusCode, "afterwards": me(base, refreshed.AccessToken)})

	refreshed.Expiry = time.Now().Add(-time.Hour)
	_, err = config.TokenSource(ctx, refreshed).Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		tell(map[string]any{"error": refused.ErrorCode})
	}
}
