export { type Agent, type AgentOptions, createAgent, type Lifetime } from './agent.ts'
export {
  type Api,
  type ApiOptions,
  createApi,
  type ErrorBody,
  type ErrorCode,
  type OAuthOptions,
  PlatformError,
  pages,
  type Tokens,
  unwrap,
} from './client.ts'
export { AgentError, RunEnded, Suspended } from './errors.ts'
export type { CallOf, FromSchema, ManifestLike, SettingsOf } from './manifest.ts'
export type { Answer, Question, Run, ToolOutcome, Tools } from './run.ts'
export type { AgentAnswer, EventOf, PlatformEvent, RunExecute } from './webhooks.ts'
