import type { Guide } from './guides.ts'

const ABOUT =
  'A platform on which developers register agents, customers install them into their workspaces through OAuth, and the ' +
  'platform runs them as jobs called runs: it posts a signed `run.execute` to the agent, which answers at once or later ' +
  'through the API. Around it: signed webhooks, event polling, tools with approval by people, agents that ask agents.'

/** `/llms.txt` (llmstxt.org): where a language model finds what, in Markdown. */
export const llmsText = (guides: readonly Guide[]): string => `# Agent Integration Platform

> ${ABOUT}

Every error answer has \`error.code\`, \`error.fix\` and \`error.docs_url\`. POST requests take an \`Idempotency-Key\`. Lists
are paged by \`cursor\`.

## Guides

${guides.map(({ name, title, description }) => `- [${title}]({{base_url}}/docs/${name}.md): ${description}`).join('\n')}

## Reference

- [OpenAPI 3.1 document]({{base_url}}/openapi.json): every operation with schemas, errors and examples, and every webhook
- [Manifest schema]({{base_url}}/schemas/manifest.json): the JSON Schema of an agent’s manifest
- [Sample files]({{base_url}}/api/v1/dev/sdk/examples): agents, webhook receivers and installations in Python and TypeScript that run as they are
- [Authorization server metadata]({{base_url}}/.well-known/oauth-authorization-server): RFC 8414

## Optional

- [All guides in one file]({{base_url}}/llms-full.txt)
- [Interactive reference]({{base_url}}/docs/reference): the same operations, for people
`

/** `/llms-full.txt`: every guide, one after the other. */
export const llmsFullText = (guides: readonly Guide[]): string =>
  guides.map(({ markdown }) => markdown.trim()).join('\n\n---\n\n')
