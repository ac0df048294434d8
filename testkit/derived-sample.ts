import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Sample } from './sample.ts'
import type { Stage } from './stage.ts'

/** Caller, and the records that the path names, in the path's order. */
interface Subject extends Omit<Sample, 'path' | 'body'> {
  ids?: readonly string[]
}

const ADMIN = { headers: { 'x-admin-key': 'local-admin-key' } }

/** Factories of the caller and the records for a path, by the caller's kind and the kinds of ids in the path. */
const SUBJECTS: Record<string, (stage: Stage) => Promise<Subject>> = {
  none: async () => ({}),
  integration: async (stage) => ({ token: (await stage.integration()).token }),
  'integration run': async (stage) => {
    const { run, callback } = await stage.running()
    return { token: callback, ids: [run.id] }
  },
  'integration webhook': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { token: app.token, ids: [webhook.id] }
  },
  'integration webhook delivery': async (stage) => {
    const { app, webhook, delivery } = await stage.subscribed()
    return { token: app.token, ids: [webhook.id, delivery.id] }
  },
  'integration task': async (stage) => {
    const { app, task } = await stage.tasked()
    return { token: app.token, ids: [task.id] }
  },
  'integration conversation': async (stage) => {
    const { token, id } = await stage.conversation()
    return { token, ids: [id] }
  },
  'integration file': async (stage) => {
    const { token, file } = await stage.filed()
    return { token, ids: [file.id] }
  },
  console: async (stage) => ({ token: (await stage.integration()).person.token }),
  'console installation': async (stage) => {
    const { installation, person } = await stage.integration()
    return { token: person.token, ids: [installation.id] }
  },
  'console grant': async (stage) => {
    const { grant, person } = await stage.integration()
    return { token: person.token, ids: [grant.id] }
  },
  'console installation webhook': async (stage) => {
    const { app, webhook } = await stage.subscribed()
    return { token: app.person.token, ids: [app.installation.id, webhook.id] }
  },
  'console run': async (stage) => {
    const { app, run } = await stage.awaiting()
    return { token: app.person.token, ids: [run.id] }
  },
  'console run step': async (stage) => {
    const { app, run, step } = await stage.awaiting()
    return { token: app.person.token, ids: [run.id, step] }
  },
  'console task': async (stage) => {
    const { app, task } = await stage.tasked()
    return { token: app.person.token, ids: [task.id] }
  },
  'console file': async (stage) => {
    const { personToken, file } = await stage.filed()
    return { token: personToken, ids: [file.id] }
  },
  'console user': async (stage) => {
    const { workspaceId, person } = await stage.integration()
    return { token: person.token, ids: [(await stage.member(workspaceId)).user.id] }
  },
  'console app': async (stage) => {
    const { app, token } = await stage.reviewed()
    return { token, ids: [app.id] }
  },
  'console agentRequest': async (stage) => {
    const { id, token } = await stage.wished()
    return { token, ids: [id] }
  },
  'console conversation': async (stage) => {
    const { token, id } = await stage.chat()
    return { token, ids: [id] }
  },
  'console account': async ({ messenger }) => {
    const { accountId, token } = await messenger.bot()
    return { token, ids: [accountId] }
  },
  'console dialog': async ({ messenger }) => {
    const { chatId, token } = await messenger.chat()
    return { token, ids: [chatId] }
  },
  'console message': async ({ messenger }) => {
    const { draftId, token } = await messenger.draft()
    return { token, ids: [draftId] }
  },
  developer: async (stage) => ({ headers: (await stage.developer()).headers }),
  'developer app': async (stage) => {
    const { app, headers } = await stage.published()
    return { headers, ids: [app.id] }
  },
  'developer agentRequest': async (stage) => {
    const { headers } = await stage.developer()
    return { headers, ids: [(await stage.wished()).id] }
  },
  'developer review': async (stage) => {
    const { review, headers } = await stage.reviewed()
    return { headers, ids: [review.id] }
  },
  'developer listenedRequest': async (stage) => {
    const { request, headers } = await stage.listened()
    return { headers, ids: [request] }
  },
  admin: async () => ADMIN,
  'admin app': async (stage) => ({ ...ADMIN, ids: [(await stage.inReview()).app.id] }),
  'admin agentRequest': async (stage) => ({ ...ADMIN, ids: [(await stage.wished()).id] }),
  'admin abuseReport': async (stage) => ({ ...ADMIN, ids: [await stage.complained()] }),
  'admin review': async (stage) => ({ ...ADMIN, ids: [(await stage.reviewed()).review.id] }),
  'admin workspace': async (stage) => ({ ...ADMIN, ids: [(await stage.actors.signIn()).workspace.id] }),
  'admin installation': async (stage) => ({ ...ADMIN, ids: [(await stage.integration()).installation.id] }),
}

let examples: Record<string, unknown> | undefined

/** Returns the reference's example of an endpoint's JSON body, which fits the schema. */
export const exampleBody = ({ id }: Endpoint): unknown => {
  examples ??= Object.fromEntries(
    // biome-ignore lint/suspicious/noExplicitAny: a document of any depth
    Object.values(buildDocument(Object.values(requestFunctions).flat(), '1').paths as Record<string, any>)
      .flatMap((item) => Object.values(item) as { operationId: string; requestBody?: { content: object } }[])
      .map(({ operationId, requestBody }) => [
        operationId,
        (requestBody?.content as Record<string, { example?: unknown }> | undefined)?.['application/json']?.example,
      ]),
  )
  return examples[id]
}

/** Derives a valid call from the declaration: its caller, the records that its path names, and the reference's example. */
export const derivedSample = async (stage: Stage, endpoint: Endpoint): Promise<Sample> => {
  const kinds = [endpoint.caller, ...Object.values(endpoint.params)].join(' ')
  const make = SUBJECTS[kinds]
  if (!make) throw new Error(`${endpoint.id} needs a sample in testkit/samples.ts: its path has "${kinds}"`)
  const { ids = [], ...caller } = await make(stage)
  const left = [...ids]
  const path = endpoint.path.replaceAll(/\{\w+\}/g, () => left.shift() ?? 'unknown')
  const body = exampleBody(endpoint)
  return { path, ...caller, ...(body !== undefined && { body }) }
}
