import * as z from 'zod'
import { addInstallation } from '#shared/domain/installations/add.ts'
import { InstallationDetailsSchema, presentDetails } from '#shared/domain/installations/present.ts'
import { installedApp, listInstallations } from '#shared/domain/installations/read.ts'
import { removeInstallation } from '#shared/domain/installations/remove.ts'
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
  response: InstallationDetailsSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['console.installations.list'],
      query,
      (options) => listInstallations(work, caller.workspace.id, options),
      ({ installation, app }) => presentDetails(installation, app),
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
  response: InstallationDetailsSchema,
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

const get = defineEndpoint({
  id: 'console.installations.get',
  group: 'console',
  method: 'GET',
  path: '/console/installations/{id}',
  params: { id: 'installation' },
  caller: 'console',
  summary: 'Get an installed agent',
  response: InstallationDetailsSchema,
  handler: async ({ work, caller, params }) => {
    const { installation, app } = await installedApp(work, caller.workspace.id, params.id)
    return presentDetails(installation, app)
  },
})

const remove = defineEndpoint({
  id: 'console.installations.remove',
  group: 'console',
  method: 'DELETE',
  path: '/console/installations/{id}',
  params: { id: 'installation' },
  caller: 'console',
  role: 'admin',
  summary: 'Uninstall an agent',
  description:
    'At once: its tokens are refused, no run is handed to it, no webhook is sent, nothing that waits for approval is executed, ' +
    'and its settings are erased. Within moments its active runs become `cancelled`, their pending approvals void, its grants ' +
    'revoked and its subscriptions disabled. Runs, tasks, conversations and the audit stay readable; tasks keep their assignee, ' +
    'but it works on none. It cannot be taken back: installing again makes a new installation. Removing it again is `not_found`.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeInstallation(work, { type: 'user', id: caller.user.id }, caller.workspace.id, params.id)
    return undefined
  },
})

export const installationEndpoints = [list, add, get, remove]
