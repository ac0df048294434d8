/**
 * Every value of `details.limit_scope` in a `rate_limited` error, with what shares the limit. The guide derives from this
 * table. Source: contract/errors.md#limit-scopes.
 */
export const LIMIT_SCOPES = {
  installation: 'All requests of one installation, with any of its tokens. Also its calls to other agents.',
  app: 'All requests of one app, over all of its installations. For an admin, the automatic checks of one app.',
  user: 'All requests of one person to the console’s API.',
  developer: 'All requests of one developer account. Also its test runs, and the e-mails sent to it.',
  admin: 'All requests of one admin account. Also its test installs.',
  client:
    'All OAuth requests of one app with valid credentials. Also the readings of the document and keys of one host, or of the hosts of one domain.',
  address:
    'Requests from one source address without credentials, or that failed to authenticate. Also the readings of hosts’ documents that it causes. IPv6 addresses count by /64.',
  stage: 'Requests without credentials, from all source addresses together.',
  sign_in: 'Failed sign-ins of admins, for one e-mail address and for one source address.',
  stream: 'Live streams that one caller opens and closes at the same moment.',
} as const satisfies Record<string, string>

export type LimitScope = keyof typeof LIMIT_SCOPES
