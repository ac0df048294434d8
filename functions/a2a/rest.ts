import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { ASKING, followed, NOTHING_FOLLOWS } from './support/declaration.ts'
import {
  cancel,
  createPushConfig,
  deletePushConfig,
  extendedCard,
  followTask,
  getPushConfig,
  getTask,
  list,
  listPushConfigs,
  sendMessage,
  sendStreamingMessage,
  subscribeToTask,
} from './support/operations.ts'

import { pushParamsOf, restBinding } from './support/rest.ts'

const AT = '/a2a/agents/{id}'

const { calling, streaming } = restBinding('1.0')

const declaration = { ...ASKING, speaks: 'a2a' } as const

const JSON_TYPES = ['application/json', 'application/a2a+json'] as const

const SendBody = () =>
  z
    .looseObject({
      message: z.record(z.string(), z.unknown()).nullish(),
      configuration: z.record(z.string(), z.unknown()).nullish(),
      metadata: z.record(z.string(), z.unknown()).nullish(),
    })
    .meta({
      id: 'A2aSendMessage',
      example: {
        message: {
          messageId: '5f1c9a52-6f0e-4a57-9a34-1d9b9d6f7c11',
          role: 'ROLE_USER',
          parts: [{ data: { skill: 'check_stock', arguments: { sku: 'A-1' } } }],
        },
      },
    })

const Loose = () => z.looseObject({}).meta({ id: 'A2aObject', description: 'An object of A2A 1.0.' })

const send = defineEndpoint({
  ...declaration,
  id: 'a2a.message.send',
  method: 'POST',
  path: `${AT}/message:send`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A',
  description: 'Waits for the end of the task or an interruption, unless `configuration.returnImmediately` is true.',
  body: SendBody,
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(sendMessage),
})

const stream = defineEndpoint({
  ...declaration,
  id: 'a2a.message.stream',
  method: 'POST',
  path: `${AT}/message:stream`,
  scope: 'runs:write',
  summary: 'Send a message to an agent over A2A, and follow its task',
  body: SendBody,
  ...followed(),
  handler: streaming(sendStreamingMessage),
})

const tasks = defineEndpoint({
  ...declaration,
  id: 'a2a.tasks.list',
  method: 'GET',
  path: `${AT}/tasks`,
  scope: 'runs:read',
  summary: 'List your A2A tasks at an agent',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(list),
})

const cancelling = defineEndpoint({
  ...declaration,
  id: 'a2a.tasks.cancel',
  method: 'POST',
  path: `${AT}/tasks/{task}:cancel`,
  params: { id: 'installation', task: 'text' },
  scope: 'runs:write',
  summary: 'Cancel an A2A task',
  body: Loose,
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(cancel),
})

const following = (method: 'GET' | 'POST') =>
  defineEndpoint({
    ...declaration,
    id: method === 'GET' ? 'a2a.tasks.follow' : 'a2a.tasks.subscribe',
    method,
    path: `${AT}/tasks/{task}:subscribe`,
    params: { id: 'installation', task: 'text' },
    scope: 'runs:read',
    summary: `Follow an A2A task (${method})`,
    description: 'The task, then what happens to it. With `Last-Event-ID`, what you missed.',
    ...(method === 'POST' && { body: Loose }),
    ...followed(),
    // An EventSource gets, and stops at a 204. Clients of A2A post, and expect a stream.
    ...(method === 'GET' && { orNothing: NOTHING_FOLLOWS }),
    handler: streaming(method === 'GET' ? followTask : subscribeToTask),
  })

const reading = defineEndpoint({
  ...declaration,
  id: 'a2a.tasks.read',
  method: 'GET',
  path: `${AT}/tasks/{task}`,
  params: { id: 'installation', task: 'text' },
  scope: 'runs:read',
  summary: 'Get an A2A task',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(getTask),
})

const fullCard = defineEndpoint({
  ...declaration,
  id: 'a2a.card.readExtended',
  method: 'GET',
  path: `${AT}/extendedAgentCard`,
  scope: 'runs:read',
  summary: 'Get an agent’s extended A2A card',
  description: 'All skills, with the JSON Schema of their arguments.',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(extendedCard),
})

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
  id: 'a2a.pushes.create',
  method: 'POST',
  scope: 'runs:write',
  summary: 'Ask for push notifications of an A2A task',
  body: Loose,
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(createPushConfig('1.0'), undefined, pushParamsOf),
})

const pushes = defineEndpoint({
  ...ofPushes,
  id: 'a2a.pushes.list',
  method: 'GET',
  scope: 'runs:read',
  summary: 'List the push notification configurations of an A2A task',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(listPushConfigs, undefined, pushParamsOf),
})

const readPush = defineEndpoint({
  ...ofPush,
  id: 'a2a.pushes.read',
  method: 'GET',
  scope: 'runs:read',
  summary: 'Get a push notification configuration',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(getPushConfig, undefined, pushParamsOf),
})

const removePush = defineEndpoint({
  ...ofPush,
  id: 'a2a.pushes.delete',
  method: 'DELETE',
  scope: 'runs:write',
  summary: 'Delete a push notification configuration',
  response: Loose,
  produces: JSON_TYPES,
  handler: calling(deletePushConfig, undefined, pushParamsOf),
})

export const endpoints = [
  send,
  stream,
  tasks,
  cancelling,
  following('GET'),
  following('POST'),
  createPush,
  pushes,
  readPush,
  removePush,
  reading,
  fullCard,
]
