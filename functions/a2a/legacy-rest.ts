import * as z from 'zod'
import { elementTo, protoCard, pushFrom, pushTo, sendingFrom, taskTo } from '#shared/agents/a2a/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { ASKING, followed, NOTHING_FOLLOWS } from './support/declaration.ts'
import {
  cancel,
  createPushConfig,
  deletePushConfig,
  followTask,
  getPushConfig,
  getTask,
  listPushConfigs,
  sendMessage,
  sendStreamingMessage,
  subscribeToTask,
} from './support/operations.ts'
import { pushParamsOf, restBinding } from './support/rest.ts'
import { legacyExtendedCard } from './support/rpc.ts'

const AT = '/a2a/agents/{id}/v0.3/v1'

type Json = Record<string, unknown>

const { calling, streaming } = restBinding('0.3')

const declaration = { ...ASKING, speaks: 'a2a-0.3' } as const

const Loose = () => z.looseObject({}).meta({ id: 'A2aLegacyObject', description: 'An object of A2A 0.3.' })

const element = (value: Json): Json => elementTo('proto', value)
const task = (value: Json): Json => taskTo('proto', value)

const send = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.send',
  method: 'POST',
  path: `${AT}/message:send`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A 0.3',
  body: Loose,
  response: Loose,
  handler: calling((asking, params) => sendMessage(asking, sendingFrom('proto', params), '0.3'), element),
})

const stream = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.stream',
  method: 'POST',
  path: `${AT}/message:stream`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A 0.3, and follow its task',
  body: Loose,
  ...followed(element),
  handler: streaming((asking, params) => sendStreamingMessage(asking, sendingFrom('proto', params), '0.3'), element),
})

const ofTask = { ...declaration, params: { id: 'installation', task: 'text' } } as const

const cancelling = defineEndpoint({
  ...ofTask,
  id: 'a2a.legacy.cancel',
  method: 'POST',
  path: `${AT}/tasks/{task}:cancel`,
  scope: 'runs:write',
  summary: 'Cancel an A2A task (0.3)',
  body: Loose,
  response: Loose,
  handler: calling(cancel, task),
})

const following = (method: 'GET' | 'POST') =>
  defineEndpoint({
    ...ofTask,
    id: method === 'GET' ? 'a2a.legacy.follow' : 'a2a.legacy.subscribe',
    method,
    path: `${AT}/tasks/{task}:subscribe`,
    scope: 'runs:read',
    summary: `Follow an A2A task (0.3, ${method})`,
    ...(method === 'POST' && { body: Loose }),
    ...followed(element),
    ...(method === 'GET' && { orNothing: NOTHING_FOLLOWS }),
    handler: streaming(method === 'GET' ? followTask : subscribeToTask, element),
  })

const reading = defineEndpoint({
  ...ofTask,
  id: 'a2a.legacy.read',
  method: 'GET',
  path: `${AT}/tasks/{task}`,
  scope: 'runs:read',
  summary: 'Get an A2A task (0.3)',
  response: Loose,
  handler: calling(getTask, task),
})

const card = defineEndpoint({
  ...declaration,
  id: 'a2a.legacy.card',
  method: 'GET',
  path: `${AT}/card`,
  scope: 'runs:read',
  summary: 'Get an agent’s extended A2A card of version 0.3',
  response: Loose,
  handler: calling(legacyExtendedCard, protoCard),
})

const push = (value: Json): Json => pushTo('proto', value)
const createLegacy = createPushConfig('0.3')

const ofPushes = {
  ...declaration,
  path: `${AT}/tasks/{task}/pushNotificationConfigs`,
  params: { id: 'installation', task: 'text' },
} as const

const ofPush = {
  ...declaration,
  path: `${AT}/tasks/{task}/pushNotificationConfigs/{config}`,
  params: { id: 'installation', task: 'text', config: 'text' },
} as const

const createPush = defineEndpoint({
  ...ofPushes,
  id: 'a2a.legacy.pushes.create',
  method: 'POST',
  scope: 'runs:write',
  summary: 'Ask for push notifications of an A2A task (0.3)',
  body: Loose,
  response: Loose,
  handler: calling(
    (asking, params) => createLegacy(asking, { ...pushFrom(params), taskId: params.taskId }),
    push,
    pushParamsOf,
  ),
})

const pushes = defineEndpoint({
  ...ofPushes,
  id: 'a2a.legacy.pushes.list',
  method: 'GET',
  scope: 'runs:read',
  summary: 'List the push notification configurations of an A2A task (0.3)',
  response: Loose,
  handler: calling(
    listPushConfigs,
    ({ configs, nextPageToken }) => ({ configs: (configs as Json[]).map(push), nextPageToken }),
    pushParamsOf,
  ),
})

const readPush = defineEndpoint({
  ...ofPush,
  id: 'a2a.legacy.pushes.read',
  method: 'GET',
  scope: 'runs:read',
  summary: 'Get a push notification configuration (0.3)',
  response: Loose,
  handler: calling(getPushConfig, push, pushParamsOf),
})

const removePush = defineEndpoint({
  ...ofPush,
  id: 'a2a.legacy.pushes.delete',
  method: 'DELETE',
  scope: 'runs:write',
  summary: 'Delete a push notification configuration (0.3)',
  response: Loose,
  handler: calling(deletePushConfig, undefined, pushParamsOf),
})

export const endpoints = [
  send,
  stream,
  cancelling,
  following('GET'),
  following('POST'),
  createPush,
  pushes,
  readPush,
  removePush,
  reading,
  card,
]
