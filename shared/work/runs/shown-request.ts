import * as z from 'zod'
import { type Message, msg } from '#shared/kernel/messages.ts'
import { truncate } from '#shared/kernel/truncate.ts'

/** An outgoing request as people see it before they approve it: each part separate, so that none passes for another. */
export const ShownRequest = () =>
  z.object({
    method: z.string().meta({ example: 'POST' }),
    origin: z.string().meta({
      description: 'Scheme, host and port, in ASCII. An international host is in Punycode.',
      example: 'https://api.example.com',
    }),
    path: z.string().meta({ description: 'Path and query.', example: '/v1/charges?limit=3' }),
    unicode_host: z
      .string()
      .nullable()
      .meta({ description: 'The host in Unicode if it is an international name, otherwise null.' }),
    mixed_scripts: z.boolean().meta({
      description: 'True if a label of the host mixes scripts, as names do that imitate another one.',
    }),
  })

export type ShownRequest = z.infer<ReturnType<typeof ShownRequest>>

/** Longest path in a message. The whole of it is in the console. */
const PATH = 500

/** Returns the lines that describe a request in a message: one each for method, origin and path. */
export const requestLines = ({ method, origin, path, unicode_host, mixed_scripts }: ShownRequest): Message[] => [
  msg('Method: {method}', { method }),
  msg('Origin: {origin}', { origin }),
  ...(unicode_host === null ? [] : [msg('International name: {unicode_host}', { unicode_host })]),
  ...(mixed_scripts ? [msg('⚠️ This name mixes scripts. It may imitate another one.')] : []),
  msg('Path: {path}', { path: path.length > PATH ? `${truncate(path, PATH)}…` : path }),
]
