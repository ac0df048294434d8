import sys

import openapi_client

host, access_token = sys.argv[1:]
with openapi_client.ApiClient(openapi_client.Configuration(host=host, access_token=access_token)) as client:
    print(openapi_client.IntegrationAPIApi(client).api_me_read().installation.status)
