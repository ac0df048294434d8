import type { Scenario } from './scenario.ts'

const plain = (path: string): Scenario => ({
  endpoint: `GET ${path}`,
  prepare: async (stage) => () => stage.call('GET', path),
})

export const oauthScenarios: Scenario[] = [
  {
    endpoint: 'GET /oauth/authorize',
    async prepare(stage) {
      const { path } = stage.authorization(await stage.install())
      return () => stage.call('GET', path)
    },
  },
  {
    endpoint: 'GET /oauth/consent/request',
    async prepare(stage) {
      const app = await stage.install()
      const { tg } = await stage.consent(app)
      return () => stage.call('GET', `/oauth/consent/request?tg=${tg}`, { token: app.person.token })
    },
  },
  {
    endpoint: 'POST /oauth/consent/decision',
    async prepare(stage) {
      const app = await stage.install()
      const { tg } = await stage.consent(app)
      await stage.call('GET', `/oauth/consent/request?tg=${tg}`, { token: app.person.token })
      return () => stage.decide(app, tg)
    },
  },
  {
    endpoint: 'POST /oauth/token',
    variant: 'a code',
    async prepare(stage) {
      const form = await stage.exchangeForm(await stage.install())
      return () => stage.token(form)
    },
  },
  {
    endpoint: 'POST /oauth/token',
    variant: 'a refresh token',
    async prepare(stage) {
      const app = await stage.install()
      const { body } = await stage.token(await stage.exchangeForm(app))
      return () => stage.token(stage.refreshForm(app, body.refresh_token))
    },
  },
  {
    endpoint: 'POST /oauth/token.json',
    variant: 'a code',
    async prepare(stage) {
      const body = await stage.exchangeForm(await stage.install())
      return () => stage.call('POST', '/oauth/token.json', { body })
    },
  },
  plain('/oauth/scopes'),
  plain('/oauth/metadata'),
]
