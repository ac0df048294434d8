import { createLanguageModel } from '#shared/adapters/language-model.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { type Installed, installed } from '#testkit/fixtures.ts'
import { MODEL_KEY, type ModelServer } from '#testkit/model-server.ts'
import type { TestPlatform } from '#testkit/platform.ts'

export const INSTRUCTIONS = 'You are the shop’s helper. Be brief.'

/** Configures the platform's inline agents to use the scripted model. */
export const configureModel = (platform: TestPlatform, server: ModelServer, deadlineMs = 20_000): void => {
  platform.deps.model = createLanguageModel({
    key: async () => MODEL_KEY,
    apiUrl: server.url,
    name: 'small',
    deadlineMs,
  })
}

/** Installs an app with an inline agent. */
export const inlineAgent = async (
  { deps }: TestPlatform,
  { runtime = {}, tools, ...options }: Parameters<typeof installed>[1] & { runtime?: object; tools?: object[] } = {},
): Promise<Installed> => {
  const app = await installed(deps, options)
  const manifest = {
    id: app.version.agent_id,
    version: '1.0.0',
    name: app.app.name,
    summary: 'Helps.',
    runtime: { type: 'inline', instructions: INSTRUCTIONS, ...runtime },
    ...(tools && { tools }),
  }
  await deps.table.transact([
    VersionEntity.update(app.version, {
      set: { runtime_type: 'inline', endpoint: undefined, manifest: { json: JSON.stringify(manifest) } },
    }),
  ])
  return app
}

/** Starts a run and handles everything pending. @returns the run with its steps */
export const runOf = async (platform: TestPlatform, app: Installed, input: object = { question: 'how many?' }) => {
  const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input } })
  await platform.drain()
  return readRun(platform, app, body.id)
}

export const readRun = async (platform: TestPlatform, app: Installed, id: string) =>
  (await platform.call('GET', `/api/v1/runs/${id}`, { token: app.token })).body

/** Decides on the run's pending approval as a person. */
export const decide = async (
  platform: TestPlatform,
  app: Installed,
  run: { id: string; steps: { id: string; type: string; status: string }[] },
  decision: 'approve' | 'reject',
) => {
  const step = run.steps.find(({ type, status }) => type === 'approval' && status === 'pending')
  return platform.call('POST', `/console/runs/${run.id}/steps/${step?.id}/decision`, {
    token: app.person.token,
    body: { decision },
  })
}
