import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LISTENED_KINDS } from './entity.ts'

/** An app's id in a query or a body. */
export const appId = () =>
  z
    .string()
    .refine((text) => isId('app', text), 'must be an app id')
    .meta({ example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' })

/** A listener's id in a query. */
export const listenerId = () =>
  z
    .string()
    .refine((text) => isId('listener', text), 'must be the listener id from the event `ready`')
    .meta({ example: 'lsn_01kae5m1v8w6c3x9q2r7t4y0zn' })

/** `POST /api/v1/dev/listen/{id}/answer`: the answer of the agent or receiver, or the reason why none arrived. */
export const ListenAnswerSchema = () =>
  z
    .strictObject({
      status: z.number().int().min(200).max(599).optional().meta({ description: 'The HTTP status.', example: 200 }),
      headers: z
        .record(z.string().min(1).max(200), z.string().max(8_192))
        .default({})
        .refine((headers) => Object.keys(headers).length <= 100, 'must have at most 100 headers')
        .meta({ example: { 'content-type': 'application/json' } }),
      body: z.string().optional().meta({ description: 'Body as text.', example: '{"status":"succeeded"}' }),
      body_base64: z
        .base64()
        .optional()
        .meta({ description: 'Body as base64, instead of `body`. At most 1 MiB when decoded.' }),
      truncated: z
        .boolean()
        .default(false)
        .meta({ description: 'True when the body was cut because it was too long.' }),
      failure: z.enum(['connect', 'timeout', 'reset', 'decode']).optional().meta({
        description:
          'Send instead of `status` when there is no answer: no connection, no answer in time, connection closed early, or not valid HTTP.',
      }),
    })
    .refine(({ status, failure }) => (status === undefined) !== (failure === undefined), {
      path: ['status'],
      message: 'send either status or failure',
    })
    .refine(({ body, body_base64 }) => body === undefined || body_base64 === undefined, {
      path: ['body'],
      message: 'send either body or body_base64, not both',
    })
    .meta({
      id: 'ListenAnswer',
      example: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"status":"succeeded","output":{"answer":42}}',
      },
    })

export type ListenAnswer = z.infer<ReturnType<typeof ListenAnswerSchema>>

/** A request that was sent to a listener. */
export const ListenedRequestSchema = () =>
  z
    .object({
      id: idField('lrq'),
      kind: z.enum(LISTENED_KINDS),
      event: z.string().meta({ description: 'The event’s type.', example: 'run.execute' }),
      app_id: idField('app'),
      installation_id: idField('ins'),
      state: z.literal('answered'),
      deadline_at: time(),
    })
    .meta({ id: 'ListenedRequest' })

export type ListenedRequestView = z.infer<ReturnType<typeof ListenedRequestSchema>>
