import * as z from 'zod'
import {
  elementTo,
  type LegacyForm,
  protoCard,
  pushFrom,
  pushTo,
  sendingFrom,
  taskTo,
} from '#shared/agents/a2a/index.ts'
import type { Lazy, Method } from '#shared/http/endpoint.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import {
  cancel,
  createPushConfig,
  deletePushConfig,
  type Events,
  extendedCard,
  followTask,
  getPushConfig,
  getTask,
  legacyExtendedCard,
  list,
  listPushConfigs,
  required,
  sendMessage,
  sendStreamingMessage,
  subscribeToTask,
} from './operations.ts'
import type { Asking, Version } from './scene.ts'

type Json = Record<string, unknown>

/** How a version offers an operation. */
interface Offer {
  /** Its JSON-RPC method. Without one, only HTTP+JSON has it. */
  method?: string
  /** Id, path and texts of its HTTP+JSON endpoint. */
  id: string
  path: string
  summary: string
  description?: string
}

interface Declared {
  scope: Scope
  verb: Method
  /** Parameter that the task in the path fills. */
  task?: 'id' | 'taskId'
  '1.0': Offer & { body?: Lazy<z.ZodType> }
  '0.3'?: Offer & {
    read?(form: LegacyForm, params: Json): Json
    show?(form: LegacyForm, answer: Json): Json | Json[] | null
  }
}

type Perform<T> = (asking: Asking, params: Json, version: Version) => Promise<T>

/** An operation of the protocol, as the JSON-RPC and HTTP+JSON bindings of both versions offer it. */
export type Operation = Declared & ({ answer: Perform<Json> } | { events: Perform<Events | undefined> })

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

const FOLLOWED = 'The task, then what happens to it. With `Last-Event-ID`, what you missed.'

/** Parameters of 0.3 that name a task, and perhaps one of its configurations. In JSON-RPC, `id` is the task. */
const namedFrom = (form: LegacyForm, params: Json): Json =>
  form === 'kind' ? { taskId: required(params, 'id'), id: params.pushNotificationConfigId } : params

const CONFIGS = '/tasks/{task}/pushNotificationConfigs'
const CONFIG = `${CONFIGS}/{config}`

export const OPERATIONS: readonly Operation[] = [
  {
    answer: sendMessage,
    scope: 'runs:write',
    verb: 'POST',
    '1.0': {
      method: 'SendMessage',
      id: 'a2a.message.send',
      path: '/message:send',
      summary: 'Send a message to an agent over A2A',
      description:
        'Waits for the end of the task or an interruption, unless `configuration.returnImmediately` is true.',
      body: SendBody,
    },
    '0.3': {
      method: 'message/send',
      id: 'a2a.legacy.send',
      path: '/message:send',
      summary: 'Send a message to an agent over A2A 0.3',
      read: sendingFrom,
      show: elementTo,
    },
  },
  {
    events: sendStreamingMessage,
    scope: 'runs:write',
    verb: 'POST',
    '1.0': {
      method: 'SendStreamingMessage',
      id: 'a2a.message.stream',
      path: '/message:stream',
      summary: 'Send a message to an agent over A2A, and follow its task',
      body: SendBody,
    },
    '0.3': {
      method: 'message/stream',
      id: 'a2a.legacy.stream',
      path: '/message:stream',
      summary: 'Send a message to an agent over A2A 0.3, and follow its task',
      read: sendingFrom,
      show: elementTo,
    },
  },
  {
    answer: list,
    scope: 'runs:read',
    verb: 'GET',
    '1.0': {
      method: 'ListTasks',
      id: 'a2a.tasks.list',
      path: '/tasks',
      summary: 'List your A2A tasks at an agent',
    },
  },
  {
    answer: cancel,
    scope: 'runs:write',
    verb: 'POST',
    task: 'id',
    '1.0': {
      method: 'CancelTask',
      id: 'a2a.tasks.cancel',
      path: '/tasks/{task}:cancel',
      summary: 'Cancel an A2A task',
    },
    '0.3': {
      method: 'tasks/cancel',
      id: 'a2a.legacy.cancel',
      path: '/tasks/{task}:cancel',
      summary: 'Cancel an A2A task (0.3)',
      show: taskTo,
    },
  },
  {
    // An EventSource gets, and stops at a 204. Clients of A2A post, and expect a stream.
    events: followTask,
    scope: 'runs:read',
    verb: 'GET',
    task: 'id',
    '1.0': {
      id: 'a2a.tasks.follow',
      path: '/tasks/{task}:subscribe',
      summary: 'Follow an A2A task (GET)',
      description: FOLLOWED,
    },
    '0.3': {
      id: 'a2a.legacy.follow',
      path: '/tasks/{task}:subscribe',
      summary: 'Follow an A2A task (0.3, GET)',
      show: elementTo,
    },
  },
  {
    events: subscribeToTask,
    scope: 'runs:read',
    verb: 'POST',
    task: 'id',
    '1.0': {
      method: 'SubscribeToTask',
      id: 'a2a.tasks.subscribe',
      path: '/tasks/{task}:subscribe',
      summary: 'Follow an A2A task (POST)',
      description: FOLLOWED,
    },
    '0.3': {
      method: 'tasks/resubscribe',
      id: 'a2a.legacy.subscribe',
      path: '/tasks/{task}:subscribe',
      summary: 'Follow an A2A task (0.3, POST)',
      show: elementTo,
    },
  },
  {
    answer: createPushConfig,
    scope: 'runs:write',
    verb: 'POST',
    task: 'taskId',
    '1.0': {
      method: 'CreateTaskPushNotificationConfig',
      id: 'a2a.pushes.create',
      path: CONFIGS,
      summary: 'Ask for push notifications of an A2A task',
    },
    '0.3': {
      method: 'tasks/pushNotificationConfig/set',
      id: 'a2a.legacy.pushes.create',
      path: CONFIGS,
      summary: 'Ask for push notifications of an A2A task (0.3)',
      // The task of the path counts, whatever the body says.
      read: (form, params) => ({ ...pushFrom(params), ...(form === 'proto' && { taskId: params.taskId }) }),
      show: pushTo,
    },
  },
  {
    answer: listPushConfigs,
    scope: 'runs:read',
    verb: 'GET',
    task: 'taskId',
    '1.0': {
      method: 'ListTaskPushNotificationConfigs',
      id: 'a2a.pushes.list',
      path: CONFIGS,
      summary: 'List the push notification configurations of an A2A task',
    },
    '0.3': {
      method: 'tasks/pushNotificationConfig/list',
      id: 'a2a.legacy.pushes.list',
      path: CONFIGS,
      summary: 'List the push notification configurations of an A2A task (0.3)',
      read: namedFrom,
      show: (form, { configs, nextPageToken }) => {
        const shown = (configs as Json[]).map((config) => pushTo(form, config))
        return form === 'kind' ? shown : { configs: shown, nextPageToken }
      },
    },
  },
  {
    answer: getPushConfig,
    scope: 'runs:read',
    verb: 'GET',
    task: 'taskId',
    '1.0': {
      method: 'GetTaskPushNotificationConfig',
      id: 'a2a.pushes.read',
      path: CONFIG,
      summary: 'Get a push notification configuration',
    },
    '0.3': {
      method: 'tasks/pushNotificationConfig/get',
      id: 'a2a.legacy.pushes.read',
      path: CONFIG,
      summary: 'Get a push notification configuration (0.3)',
      read: namedFrom,
      show: pushTo,
    },
  },
  {
    answer: deletePushConfig,
    scope: 'runs:write',
    verb: 'DELETE',
    task: 'taskId',
    '1.0': {
      method: 'DeleteTaskPushNotificationConfig',
      id: 'a2a.pushes.delete',
      path: CONFIG,
      summary: 'Delete a push notification configuration',
    },
    '0.3': {
      method: 'tasks/pushNotificationConfig/delete',
      id: 'a2a.legacy.pushes.delete',
      path: CONFIG,
      summary: 'Delete a push notification configuration (0.3)',
      read: namedFrom,
      show: (form, answer) => (form === 'kind' ? null : answer),
    },
  },
  {
    answer: getTask,
    scope: 'runs:read',
    verb: 'GET',
    task: 'id',
    '1.0': {
      method: 'GetTask',
      id: 'a2a.tasks.read',
      path: '/tasks/{task}',
      summary: 'Get an A2A task',
    },
    '0.3': {
      method: 'tasks/get',
      id: 'a2a.legacy.read',
      path: '/tasks/{task}',
      summary: 'Get an A2A task (0.3)',
      show: taskTo,
    },
  },
  {
    answer: (asking, params, version) =>
      version === '0.3' ? legacyExtendedCard(asking) : extendedCard(asking, params),
    scope: 'runs:read',
    verb: 'GET',
    '1.0': {
      method: 'GetExtendedAgentCard',
      id: 'a2a.card.readExtended',
      path: '/extendedAgentCard',
      summary: 'Get an agent’s extended A2A card',
      description: 'All skills, with the JSON Schema of their arguments.',
    },
    '0.3': {
      method: 'agent/getAuthenticatedExtendedCard',
      id: 'a2a.legacy.card',
      path: '/card',
      summary: 'Get an agent’s extended A2A card of version 0.3',
      show: (form, card) => (form === 'proto' ? protoCard(card) : card),
    },
  },
]
