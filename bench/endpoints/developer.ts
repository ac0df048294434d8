import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

type Published = Awaited<ReturnType<Stage['published']>>

/** A request of a developer about a published app. */
const aboutApp = (
  endpoint: string,
  suffix: string,
  body?: (stage: Stage, app: Published) => unknown,
  make: (stage: Stage) => Promise<Published> = (stage) => stage.published(),
): Scenario => ({
  endpoint,
  async prepare(stage) {
    const app = await make(stage)
    const [method = ''] = endpoint.split(' ')
    return () => app.author.call(method, `/api/v1/dev/apps/${app.id}${suffix}`, body?.(stage, app))
  },
})

const tested = async (stage: Stage): Promise<Published> => {
  const app = await stage.published()
  const path = `/api/v1/dev/apps/${app.id}/test-run`
  await stage.whileWorking(() => app.author.call('POST', path, { input: { name: 'Ada' } }))
  return app
}

export const developerScenarios: Scenario[] = [
  {
    endpoint: 'POST /api/v1/dev/register',
    prepare: async (stage) => () =>
      stage.call('POST', '/api/v1/dev/register', {
        body: { email: `${stage.unique('new')}@example.com`, name: 'Ada', company: 'Example Ltd' },
      }),
  },
  {
    endpoint: 'GET /api/v1/dev/me',
    async prepare(stage) {
      const author = await stage.developer()
      return () => author.call('GET', '/api/v1/dev/me')
    },
  },
  {
    endpoint: 'POST /api/v1/dev/apps',
    async prepare(stage) {
      const author = await stage.developer()
      return () => author.call('POST', '/api/v1/dev/apps', stage.appFields())
    },
  },
  {
    endpoint: 'GET /api/v1/dev/apps',
    async prepare(stage) {
      const { author } = await stage.published()
      return () => author.call('GET', '/api/v1/dev/apps')
    },
  },
  aboutApp('GET /api/v1/dev/apps/{id}', ''),
  aboutApp('PATCH /api/v1/dev/apps/{id}', '', () => ({ summary: 'Greets people by their names.' })),
  aboutApp('POST /api/v1/dev/apps/{id}/versions', '/versions', (stage, app) =>
    stage.manifest(app.author, app.slug, '1.1.0'),
  ),
  aboutApp('GET /api/v1/dev/apps/{id}/versions', '/versions'),
  {
    endpoint: 'POST /api/v1/dev/apps/{id}/versions/{v}/promote',
    async prepare(stage) {
      const app = await stage.published()
      await app.author.call(
        'POST',
        `/api/v1/dev/apps/${app.id}/versions`,
        stage.manifest(app.author, app.slug, '1.1.0'),
      )
      return () => app.author.call('POST', `/api/v1/dev/apps/${app.id}/versions/1.1.0/promote`)
    },
  },
  {
    endpoint: 'POST /api/v1/dev/manifest/validate',
    async prepare(stage) {
      const author = await stage.developer()
      const body = stage.manifest(author, 'greeter')
      return () => stage.call('POST', '/api/v1/dev/manifest/validate', { body })
    },
  },
  {
    endpoint: 'POST /api/v1/dev/apps/{id}/test-run',
    async prepare(stage) {
      const app = await tested(stage)
      const path = `/api/v1/dev/apps/${app.id}/test-run`
      return () => app.author.call('POST', path, { input: { name: 'Ada' } })
    },
  },
  aboutApp('POST /api/v1/dev/apps/{id}/sandbox-token', '/sandbox-token', undefined, tested),
  aboutApp('POST /api/v1/dev/apps/{id}/submit', '/submit', undefined, tested),
]
