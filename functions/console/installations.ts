import * as z from 'zod'
import { addInstallation } from '#shared/domain/installations/add.ts'
import { installationSchema, presentInstallation } from '#shared/domain/installations/present.ts'
import { listInstallations } from '#shared/domain/installations/read.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

const AddInstallation = () =>
  z
    .strictObject({
      slug: z.string().min(1).max(40).meta({ example: 'stock-helper' }),
      scopes: z
        .array(z.enum(SCOPE_NAMES))
        .max(SCOPE_NAMES.length)
        .optional()
        .meta({ description: 'Default: all that the app requests.' }),
    })
    .meta({ id: 'AddInstallation' })

const list = defineEndpoint({
  id: 'console.installations.list',
  group: 'console',
  method: 'GET',
  path: '/console/installations',
  caller: 'console',
  summary: 'List installed agents, newest first',
  query: () => pageQuery({}),
  list: 'page',
  response: installationSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.installations.list'],
      query,
      (options) => listInstallations(work, caller.workspace.id, options),
      presentInstallation,
    ),
})

const add = defineEndpoint({
  id: 'console.installations.add',
  group: 'console',
  method: 'POST',
  path: '/console/installations',
  caller: 'console',
  role: 'admin',
  summary: 'Install an agent without OAuth',
  description:
    'Installs the promoted version and issues no tokens: for agents that need no backend of their own. An app that is ' +
    'installed already takes the scopes given now and stays on its version.',
  body: AddInstallation,
  status: 201,
  response: installationSchema,
  errors: [
    'not_found',
    'app_suspended',
    'app_not_approved',
    'installation_suspended',
    'insufficient_scope',
    'scope_denied_by_admin',
    'no_manifest',
  ],
  handler: ({ work, caller, body }) => addInstallation(work, caller, body),
})

export const installationEndpoints = [list, add]
