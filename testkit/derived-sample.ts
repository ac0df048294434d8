import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { A2A } from './a2a.ts'
import { newTeammate, unique } from './developers.ts'
import type { Given, Sample } from './sample.ts'
import type { Stage } from './stage.ts'
import {
  ADMIN,
  a2aAgentOf,
  a2aTaskOf,
  applied,
  budgeted,
  developerId,
  filedAs,
  invited,
  personWithPasskey,
  scheduled,
  signedInStaff,
  staff,
  teammateWithPasskey,
  waitingRevision,
  waitingVersion,
  withKey,
  withPasskey,
} from './states.ts'

/** Makes a record of the caller's own. */
const owning =
  (make: (stage: Stage) => Promise<{ id: string; token: string }>) =>
  async (stage: Stage): Promise<Given> => {
    const { id, token } = await make(stage)
    return { token, ids: [id] }
  }

/** Factories of the caller and the records for a path, by the caller's kind and the kinds of ids in the path. */
const SUBJECTS: Record<string, (stage: Stage, endpoint: Endpoint) => Promise<Given>> = {
  none: async () => ({}),
  client: async () => ({}),
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
  'integration conversation': owning((stage) => stage.conversation()),
  'integration file': async (stage) => {
    const { token, file } = await stage.filed()
    return { token, ids: [file.id] }
  },
  'integration installation': async (stage, { path }) => {
    const { id, token } = await a2aAgentOf(stage)
    return { token, ids: [id], ...headersOf(path) }
  },
  'integration installation text': async (stage, { path }) => {
    const { id, task, token } = await a2aTaskOf(stage)
    return { token, ids: [id, task], ...headersOf(path) }
  },
  'integration installation text text': async (stage, { path }) => {
    const { id, task, token } = await a2aTaskOf(stage)
    return { token, ids: [id, task, task], ...headersOf(path) }
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
  'console folder': owning((stage) => filedAs(stage, { kind: 'folder', name: 'Contacts' })),
  'console budget': owning(budgeted),
  'console schedule': owning(scheduled),
  'integration schedule': async (stage) => {
    const { appToken, id } = await scheduled(stage)
    return { token: appToken, ids: [id] }
  },
  'console invitation': owning(invited),
  'console passkey': async (stage) => {
    const { token, passkey } = await personWithPasskey(stage)
    return { token, ids: [passkey] }
  },
  'console user': async (stage) => {
    const { workspaceId, person } = await stage.integration()
    return { token: person.token, ids: [(await stage.member(workspaceId)).user.id] }
  },
  'console app': async (stage) => {
    const { app, token } = await stage.reviewed()
    return { token, ids: [app.id] }
  },
  'console agentRequest': owning((stage) => stage.wished()),
  'console conversation': owning((stage) => stage.chat()),
  'console account': async ({ messenger }) => {
    const { accountId, token } = await messenger.bot()
    return { token, ids: [accountId] }
  },
  'console thread': async ({ messenger }) => {
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
  'developer developerKey': async (stage) => {
    const { owner, headers } = await stage.developer()
    const { body } = await owner.call('POST', '/api/v1/dev/me/keys', { name: unique('key') })
    return { headers, ids: [body.id] }
  },
  'developer developerMember': async (stage) => {
    const { owner, headers } = await stage.developer()
    return { headers, ids: [(await newTeammate(stage.platform, owner, 'viewer')).id] }
  },
  'developer passkey': async (stage) => {
    const { headers, passkey } = await teammateWithPasskey(stage)
    return { headers, ids: [passkey] }
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
  admin: async () => ({ headers: ADMIN }),
  'admin admin': async (stage) => ({ headers: ADMIN, ids: [(await staff(stage)).id] }),
  'admin admin adminKey': async (stage) => {
    const { id, key } = await withKey(stage)
    return { headers: ADMIN, ids: [id, key] }
  },
  'admin adminSession': async (stage) => {
    const { token, session } = await signedInStaff(stage)
    return { token, ids: [session] }
  },
  'admin passkey': async (stage) => {
    const { token, passkey } = await withPasskey(stage)
    return { token, ids: [passkey] }
  },
  'admin developer': async (stage) => ({ headers: ADMIN, ids: [await developerId(stage)] }),
  'admin app version': async (stage) => ({ headers: ADMIN, ids: await waitingVersion(stage) }),
  'admin app appRevision': async (stage) => ({ headers: ADMIN, ids: await waitingRevision(stage) }),
  'admin verification': async (stage) => ({ headers: ADMIN, ids: [await applied(stage)] }),
  'admin app': async (stage) => ({ headers: ADMIN, ids: [(await stage.inReview()).app.id] }),
  'admin agentRequest': async (stage) => ({ headers: ADMIN, ids: [(await stage.wished()).id] }),
  'admin abuseReport': async (stage) => ({ headers: ADMIN, ids: [await stage.complained()] }),
  'admin review': async (stage) => ({ headers: ADMIN, ids: [(await stage.reviewed()).review.id] }),
  'admin workspace': async (stage) => ({ headers: ADMIN, ids: [(await stage.actors.signIn()).workspace.id] }),
  'admin installation': async (stage) => ({ headers: ADMIN, ids: [(await stage.integration()).installation.id] }),
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

/** Requests of version 1.0 say so, older ones have an address of their own. */
const headersOf = (path: string): Given => (path.includes('/v0.3/') ? {} : { headers: A2A })

/** Returns the caller and the records that the path names, as far as a sample doesn't give them. */
const subjectOf = async (stage: Stage, endpoint: Endpoint, { ids, token, headers }: Given): Promise<Given> => {
  if (token !== undefined || headers !== undefined) return {}
  const kinds = ids ? endpoint.caller : [endpoint.caller, ...Object.values(endpoint.params)].join(' ')
  const make = SUBJECTS[kinds]
  if (!make) throw new Error(`${endpoint.id} needs a sample in testkit/samples.ts: its path has "${kinds}"`)
  return make(stage, endpoint)
}

/** Completes a valid call from the declaration: its caller, the records that its path names, and the reference's example. */
export const derivedSample = async (stage: Stage, endpoint: Endpoint, given: Given): Promise<Sample> => {
  const { ids = [], query, ...call } = { ...(await subjectOf(stage, endpoint, given)), ...given }
  const left = [...ids]
  const path = endpoint.path.replaceAll(/\{\w+\}/g, () => left.shift() ?? 'unknown')
  const body = 'body' in call ? call.body : exampleBody(endpoint)
  return { ...call, path: query === undefined ? path : `${path}?${query}`, ...(body !== undefined && { body }) }
}
