// An authenticator with one passkey. It reads a ceremony as JSON from each line, and prints the credential's answer.
// authenticator ec2|rsa
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/descope/virtualwebauthn"
)

type ceremony struct {
	Type    string          `json:"type"`
	Origin  string          `json:"origin"`
	Options json.RawMessage `json:"options"`
}

func main() {
	kind := virtualwebauthn.KeyTypeEC2
	if os.Args[1] == "rsa" {
		kind = virtualwebauthn.KeyTypeRSA
	}
	credential := virtualwebauthn.NewCredential(kind)
	authenticator := virtualwebauthn.NewAuthenticator()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked ceremony
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		rp := virtualwebauthn.RelyingParty{ID: "localhost", Name: "Platform", Origin: asked.Origin}
		if asked.Type == "create" {
			options, err := virtualwebauthn.ParseAttestationOptions(string(asked.Options))
			if err != nil {
				log.Fatal(err)
			}
			authenticator.Options.UserHandle = []byte(options.UserID)
			fmt.Println(virtualwebauthn.CreateAttestationResponse(rp, authenticator, credential, *options))
		} else {
			options, err := virtualwebauthn.ParseAssertionOptions(string(asked.Options))
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(virtualwebauthn.CreateAssertionResponse(rp, authenticator, credential, *options))
		}
	}
}
