/**
 * Slug of the internal orchestrator in `allowed_callers` and in the audit log. No developer can register it.
 *
 * To the rest of the platform the orchestrator is an app without a developer and without records, installed for each
 * person of each workspace. So every rule for agents applies to it: scopes, bans, chains, rates, `allowed_callers` and
 * audit. Each person's orchestrator has only that person's conversation, runs and chain.
 */
export const ORCHESTRATOR_SLUG = 'orchestrator'

/** Slug of the platform's sample agent. No developer can register it. */
export const SAMPLE_SLUG = 'platform-sample'
