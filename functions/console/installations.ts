import * as z from 'zod'
import {
  addInstallation,
  InstallationDetailsSchema,
  listInstallations,
  loadInstalled,
  presentDetails,
  removeInstallation,
} from '#shared/access/installations/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { INSTALL_ERRORS } from './support/install-errors.ts'

const AddInstallation = () =>
  z
    .strictObject({
      slug: z.string().min(1).max(40).meta({ example: 'stock-helper' }),
      scopes: z
        .array(z.enum(SCOPE_NAMES))
        .max(SCOPE_NAMES.length)
        .optional()
        .meta({ description: 'Default: all scopes that the app requests.' }),
    })
    .meta({ id: 'AddInstallation' })

const list = defineEndpoint({
  id: 'console.installations.list',
  group: 'console',
  method: 'GET',
  path: '/console/installations',
  caller: 'console',
  summary: 'List installed agents, newest first',
  list: {
    read: ({ work, caller }, page) => listInstallations(work, caller.workspace.id, page),
    present: ({ installation, app }) => presentDetails(installation, app),
  },
  response: InstallationDetailsSchema,
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
    'Installs the promoted version without issuing tokens, for agents that don’t need their own backend. If the app ' +
    'is already installed, its scopes are replaced by the given ones and its version doesn’t change.',
  body: AddInstallation,
  status: 201,
  response: InstallationDetailsSchema,
  errors: INSTALL_ERRORS,
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
    const { installation, app } = await loadInstalled(work, caller.workspace.id, params.id)
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
    'Takes effect immediately: the agent’s tokens are refused, it gets no more runs or webhooks, pending approvals ' +
    'are no longer executed, and its settings are erased. Within moments, its active runs become `cancelled`, their ' +
    'pending approvals become void, its grants are revoked and its subscriptions disabled. Runs, tasks, ' +
    'conversations and the audit stay readable. Tasks keep the agent as their assignee, but it no longer works on ' +
    'them. You can’t undo this: installing the app again creates a new installation. Uninstalling it twice gets ' +
    '`not_found`.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await removeInstallation(work, { type: 'user', id: caller.user.id }, caller.workspace.id, params.id)
    return undefined
  },
})

export const endpoints = [list, add, get, remove]
