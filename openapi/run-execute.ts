import * as z from 'zod'
import { time } from '#shared/foundation/schemas/index.ts'
import { CompleteRun, InputRequired, PROTOCOLS } from '#shared/work/runs/index.ts'
import { sampleOf } from './sample.ts'
import { type Json, Schemas } from './schemas.ts'

const json = () => z.record(z.string(), z.unknown())
const person = () => z.object({ id: z.string(), name: z.string() })

/** Body of the request to an agent's endpoint (contract/runs.md#execute-request). */
const runExecute = () =>
  z
    .object({
      type: z.literal('run.execute'),
      attempt: z.int().min(1).meta({
        description: 'Greater than 1 if this request is sent again, for manifests with `runtime.retry`.',
        example: 1,
      }),
      run: z.object({
        id: z.string().meta({
          description: 'The run. Do its work once, even if the request comes again.',
          example: 'run_01kae5m1v8w6c3x9q2r7t4y0zn',
        }),
        input: json().meta({ description: 'Input of the run.', example: { question: 'How many are in stock?' } }),
        trigger: z.string().meta({ description: 'Source of the run, or the caller’s own label.', example: 'api' }),
      }),
      agent: z.object({
        id: z.string().meta({ description: '`id` of the manifest.', example: 'acme.stock-helper' }),
        version: z.string().meta({ description: 'Version that the installation uses.', example: '1.0.0' }),
      }),
      installation: z.object({
        id: z.string().meta({ example: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn' }),
        workspace_id: z.string(),
        scopes: z.array(z.string()).meta({ description: 'Granted scopes.', example: ['runs:write', 'tools:invoke'] }),
        settings: json().meta({ description: 'The installation’s settings, with decrypted secrets.', example: {} }),
        owner: person().meta({ description: 'The person who owns the installation.' }),
      }),
      callback: z.object({
        base_url: z.string().meta({ description: 'Base URL of the API, including /api/v1.', format: 'uri' }),
        mcp_url: z.string().meta({
          description: 'The platform’s MCP server, which takes the same token.',
          format: 'uri',
        }),
        token: z.string().meta({ description: 'Valid for this run only.' }),
        expires_in: z.literal(900).meta({ description: 'Lifetime of the token in seconds.' }),
      }),
      actor: person()
        .nullable()
        .meta({ description: 'The person who started the run. Null for a run started through the API.' }),
      caller: z
        .object({
          installation_id: z.string(),
          app_id: z.string(),
          slug: z.string(),
          name: z.string(),
          run_id: z.string().nullable(),
          audience: z.enum(['member', 'external']),
        })
        .nullable()
        .meta({ description: 'The agent that called this one or delegated the task. Null if there is none.' }),
      audience: z
        .enum(['member', 'external'])
        .meta({ description: '`external`: answer only with information that can leave the workspace.' }),
      chain: z.object({ id: z.string(), depth: z.number().int(), deadline: time() }).meta({
        description:
          'How many agents deep the call is (3 at most), and the deadline of the whole chain. At depth 0 the deadline limits nothing: the 120 seconds begin with the first question to another agent.',
      }),
      tool: z.string().optional().meta({
        description:
          'For `ask_agent`: the declared tool that is called. The caller waits for the output, and the run is cancelled at the chain’s deadline.',
      }),
      arguments: json().optional().meta({ description: 'Arguments of the tool, the same as the input.' }),
      protocol: z
        .enum(PROTOCOLS)
        .nullable()
        .meta({ description: 'The protocol over which the run was started and its questions are answered.' }),
      message: json()
        .optional()
        .meta({
          description: 'The A2A message, in the form of version 1.0.',
          example: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'How many are in stock?' }] },
        }),
      context: z
        .object({ id: z.string(), run_ids: z.array(z.string()) })
        .optional()
        .meta({
          description: 'The A2A context, with the 20 latest runs that the same caller started in it before.',
          example: { id: 'ctx_01kae5m1v8w6c3x9q2r7t4y0zn', run_ids: [] },
        }),
      client_capabilities: json()
        .optional()
        .meta({
          description: 'Capabilities that the MCP client declared when it started the run.',
          example: { elicitation: {} },
        }),
      task: z
        .object({
          id: z.string(),
          title: z.string(),
          description: z.string(),
          status: z.string(),
          audience: z.enum(['member', 'external']),
          conversation_id: z.string(),
          created_by: z.object({ type: z.enum(['user', 'agent']), id: z.string(), name: z.string() }),
          chain_depth: z.number().int(),
        })
        .optional()
        .meta({ description: 'The task to work on.' }),
      conversation: z
        .object({
          id: z.string(),
          kind: z.string(),
          title: z.string(),
          messages: z.array(z.object({ id: z.string(), author: json(), text: z.string(), created_at: time() })),
        })
        .optional()
        .meta({ description: 'The conversation of the task or message, with its latest 50 messages, oldest first.' }),
      resume: z
        .object({
          step_id: z.string(),
          decision: z.enum(['approved', 'rejected']).optional(),
          result: z.unknown(),
          receipt: z.string().nullish().meta({
            description: 'The signed receipt of the decision (JWS). Null if no person decided within 24 hours.',
          }),
          input: json().optional().meta({ description: 'Answers by key: `{action, content?}`.' }),
        })
        .optional()
        .meta({ description: 'A person’s decision or answers, for manifests with `runtime.resume`.' }),
    })
    .meta({ id: 'RunExecute' })

/** Returns the JSON Schema of the body, for the guide. */
export const runExecuteBody = (): Json => {
  const schemas = new Schemas()
  schemas.of(runExecute(), 'output')
  return schemas.components.RunExecute ?? {}
}

const RunExecuteAnswer = () =>
  z.union([CompleteRun().meta({ id: 'RunExecuteResult' }), InputRequired()]).meta({ id: 'RunExecuteAnswer' })

/** Describes the signed request of a run to its agent, and the agent's possible answers. */
export const runExecuteOperation = (schemas: Schemas, signatures: readonly Json[], tag: string): Json => {
  const schema = schemas.of(runExecute(), 'output')
  const answer = schemas.of(RunExecuteAnswer(), 'input')
  return {
    operationId: 'agent.run.execute',
    tags: [tag],
    summary: 'run.execute',
    description:
      'Sent to the manifest’s `runtime.endpoint`. Verify the signature over the raw bytes. The agent has 30 seconds to ' +
      'answer. For longer work, it answers 202 and completes the run later through the API.',
    security: [],
    parameters: [
      ...signatures,
      {
        name: 'X-SVC-Event',
        in: 'header',
        required: true,
        schema: { type: 'string', const: 'run.execute' },
      },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: sampleOf(schema, schemas.components) } },
    },
    responses: {
      200: {
        description: 'The run succeeded or failed, or the agent asks people questions.',
        content: {
          'application/json': {
            schema: answer,
            example: { status: 'succeeded', output: { answer: 42 }, cost_units: 1 },
          },
        },
      },
      202: { description: 'Accepted. The agent completes the run later with POST /api/v1/runs/{id}/complete.' },
      default: { description: 'The run fails with `agent_unreachable`.' },
    },
  }
}
