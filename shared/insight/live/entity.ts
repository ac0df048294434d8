import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const openPages = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Their live connections, oldest first. */
    open: z.array(
      z.object({
        id: z.string(),
        session_id: z.string(),
        /** Start of the membership that the page was opened in. */
        member_since: z.number(),
        expires_at: z.number(),
      }),
    ),
    expires_at: z.number(),
  })

export type OpenPages = z.infer<ReturnType<typeof openPages>>

/** Live connections of a person's pages to a workspace. One query reads those of the whole workspace. */
export const OpenPagesEntity = defineEntity({
  name: 'open-pages',
  schema: openPages,
  pk: 'LIVE#{workspace_id}',
  sk: 'PAGES#{user_id}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: ({ expires_at }) => expires_at,
})

const connection = () =>
  z.object({ id: z.string(), workspace_id: z.string(), user_id: z.string(), expires_at: z.number() })

export type LiveConnection = z.infer<ReturnType<typeof connection>>

/** Leads from a live connection to its person, because API Gateway knows only its id when it ends. */
export const LiveConnectionEntity = defineEntity({
  name: 'live-connection',
  schema: connection,
  pk: 'CONNECTION#{id}',
  sk: 'CONNECTION',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 2 },
  expires: ({ expires_at }) => expires_at,
})
