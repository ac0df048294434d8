import { admin } from '#shared/http/authenticate/admin.ts'
import { client } from '#shared/http/authenticate/client.ts'
import { consoleUser } from '#shared/http/authenticate/console.ts'
import { developer } from '#shared/http/authenticate/developer.ts'
import { host } from '#shared/http/authenticate/host.ts'
import { integration } from '#shared/http/authenticate/integration.ts'
import { person } from '#shared/http/authenticate/person.ts'

/** Authenticators of every kind of caller. Deployed functions contain only those that they need. */
export const everyAuthenticator = { admin, client, console: consoleUser, developer, host, integration, person }
