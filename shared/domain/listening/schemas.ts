import * as z from 'zod'
import { LISTENED_KINDS } from '../../entities/listening.ts'
import { isId } from '../../kernel/ids.ts'
import { idField, time } from '../fields.ts'

/** An app's id in a query or a body. */
export const appId = () =>
  z
    .string()
    .refine((text) => isId('app', text), 'must be an app’s id')
    .meta({ example: 'app_01kae5m1v8w6c3x9q2r7t4y0zn' })

/** A listener's id in a query. */
export const listenerId = () =>
  z
    .string()
    .refine((text) => isId('listener', text), 'must be the listener of the event ready')
    .meta({ example: 'lsn_01kae5m1v8w6c3x9q2r7t4y0zn' })

/** `POST /api/v1/dev/listen/{id}/answer`: what the agent or the receiver answered, or why nothing came. */
export const ListenAnswerSchema = () =>
  z
    .strictObject({
      status: z.number().int().min(200).max(599).optional().meta({ description: 'The HTTP status.', example: 200 }),
      headers: z
        .record(z.string().min(1).max(200), z.string().max(8_192))
        .default({})
        .refine((headers) => Object.keys(headers).length <= 100, 'at most 100 headers')
        .meta({ example: { 'content-type': 'application/json' } }),
      body: z.string().optional().meta({ description: 'As text.', example: '{"status":"succeeded"}' }),
      body_base64: z
        .base64()
        .optional()
        .meta({ description: 'Instead of `body`, for bytes of any kind; at most 1 MiB when decoded.' }),
      truncated: z
        .boolean()
        .default(false)
        .meta({ description: 'The body was longer than what is sent here: it counts as too long.' }),
      failure: z.enum(['connect', 'timeout', 'reset', 'decode']).optional().meta({
        description:
          'Instead of `status`, why there is no answer: no connection was made; none came in time; the connection closed before the answer’s end; it is no HTTP.',
      }),
    })
    .refine(({ status, failure }) => (status === undefined) !== (failure === undefined), {
      path: ['status'],
      message: 'send either status or failure',
    })
    .refine(({ body, body_base64 }) => body === undefined || body_base64 === undefined, {
      path: ['body'],
      message: 'body and body_base64 do not go together',
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

/** A request that went to a listener. */
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
