import * as z from 'zod'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { cleanName } from '#shared/kernel/names.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { HostClientEntity } from './entity.ts'
import { isUsableRedirect } from './redirects.ts'

/** Body of `POST /connect/register` (RFC 7591 §2). Other metadata is ignored, and nothing of it is shown to anybody. */
export const RegisterHost = () =>
  z
    .object({
      redirect_uris: z
        .array(z.string())
        .optional()
        .meta({ description: 'Required: 1 to 20 addresses.', example: ['http://127.0.0.1:33418/'] }),
      client_name: z
        .string()
        .optional()
        .meta({ description: 'Name that people see when they decide, up to 100 characters.', example: 'My assistant' }),
      grant_types: z.array(z.string()).optional(),
      token_endpoint_auth_method: z.string().optional().meta({ description: 'Ignored: every client is public.' }),
    })
    .meta({ id: 'HostRegistration' })

export const RegisteredHostSchema = () =>
  z
    .object({
      client_id: z.string().meta({ example: 'mcpc_…' }),
      client_id_issued_at: z.number().int(),
      client_name: z.string(),
      redirect_uris: z.array(z.string()),
      grant_types: z.array(z.string()),
      response_types: z.array(z.string()),
      token_endpoint_auth_method: z.literal('none'),
    })
    .meta({ id: 'RegisteredHost', description: 'RFC 7591 §3.2.1' })

const MOST_REDIRECTS = 20
const UNNAMED = 'An unnamed assistant'

/**
 * Registers a public client. It gets no power: a person consents to each access, and sees where they return to.
 * @throws `invalid_redirect_uri`; `forbidden` where the stage has no registration
 */
export const registerHost = async (
  work: Work,
  { redirect_uris = [], client_name = '' }: z.infer<ReturnType<typeof RegisterHost>>,
): Promise<z.infer<ReturnType<typeof RegisteredHostSchema>>> => {
  if (!work.settings.hostRegistration) {
    throw fail('forbidden', {
      message: 'This platform takes no registrations.',
      fix: 'Publish a client id metadata document, and send its address as client_id.',
    })
  }
  const unusable = redirect_uris.find((uri) => !isUsableRedirect(work.settings, uri))
  if (unusable !== undefined || redirect_uris.length === 0 || redirect_uris.length > MOST_REDIRECTS) {
    throw fail('invalid_redirect_uri', {
      message:
        unusable === undefined
          ? `redirect_uris must be a list of 1 to ${MOST_REDIRECTS} addresses.`
          : 'redirect_uris has an address that can’t be used.',
      fix: 'Send https addresses, http addresses of the person’s own machine, or a scheme that this platform allows.',
    })
  }
  const id = newSecret('mcpc_')
  const now = work.clock.now()
  const name = cleanName(client_name, 100) || UNNAMED
  const answer = {
    client_id: id,
    client_id_issued_at: Math.floor(now / 1_000),
    client_name: name,
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none' as const,
  }
  await work.commit(
    [
      HostClientEntity.create({
        id_hash: sha256(id),
        id,
        kind: 'registered',
        name,
        redirect_uris,
        auth: 'none',
        expires_at: now + LIMITS.hostRegistrationLife,
      }),
    ],
    answer,
  )
  return answer
}
