import { type Guide, servedMarkdown } from './guides.ts'

const ABOUT =
  'Developers register agents, customers install them in their workspaces through OAuth, and the platform executes them as ' +
  'jobs called runs. For each run, it sends a signed `run.execute` request to the agent, which answers immediately or later ' +
  'through the API. Also includes signed webhooks, event polling, tools with human approval, and agent-to-agent calls.'

/** Builds `/llms.txt` (llmstxt.org), an index of the documentation for language models, in Markdown. */
export const llmsText = (guides: readonly Guide[]): string => `# Agent Integration Platform

> ${ABOUT}

Every error response has \`error.code\`, \`error.fix\` and \`error.docs_url\`. POST requests accept an \`Idempotency-Key\`.
Lists are paginated with \`cursor\`.

## Guides

${guides.map(({ name, title, description }) => `- [${title}]({{base_url}}/docs/${name}.md): ${description}`).join('\n')}

## Reference

- [OpenAPI 3.1 document]({{base_url}}/openapi.json): every operation with schemas, errors and examples, and every webhook
- [The thirty operations that an integration needs first]({{base_url}}/openapi/essentials.json), [integration API only]({{base_url}}/openapi/integration.json), [developer API only]({{base_url}}/openapi/developer.json): smaller documents, for client generators
- [Manifest schema]({{base_url}}/schemas/manifest.json): the JSON Schema of an agent’s manifest
- [Sample files]({{base_url}}/api/v1/dev/sdk/examples): agents, webhook receivers and installations in Python and TypeScript that run without changes
- [Authorization server metadata]({{base_url}}/.well-known/oauth-authorization-server): RFC 8414

## Optional

- [All guides in one file]({{base_url}}/llms-full.txt)
- [API reference]({{base_url}}/docs/reference): the same operations, for people
`

/** Builds `/llms-full.txt`, which contains every guide. */
export const llmsFullText = (guides: readonly Guide[]): string =>
  guides.map((guide) => servedMarkdown(guide).trim()).join('\n\n---\n\n')
