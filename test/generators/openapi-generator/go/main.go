package main

import (
	"context"
	"fmt"
	"os"

	"example.com/call/client"
)

func main() {
	config := client.NewConfiguration()
	config.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	signedIn := context.WithValue(context.Background(), client.ContextAccessToken, os.Args[2])
	me, _, err := client.NewAPIClient(config).IntegrationAPIAPI.ApiMeRead(signedIn).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(me.Installation.Status)
}
