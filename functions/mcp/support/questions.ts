import { cleanText } from '#shared/kernel/names.ts'
import type { InputQuestion, InputQuestions } from '#shared/work/runs/index.ts'
import { takes } from './capabilities.ts'
import { isObject, type Lane, MCP_ERRORS, McpError } from './protocol.ts'

/** A request to the client. */
export interface ClientRequest {
  method: string
  params: Record<string, unknown>
}

/** Schema of the answer to a question without a form. */
const TEXT = { type: 'object', properties: { text: { type: 'string', title: 'Answer' } }, required: ['text'] }

/** Choices of a field, as far as the protocol knows them: texts. */
const fieldOf = (field: Record<string, unknown>): Record<string, unknown> => {
  const { enum: values, ...rest } = field
  if (!Array.isArray(values)) return field
  if (values.every((value) => typeof value === 'string')) return { ...field, type: 'string' }
  return { ...rest, type: rest.type ?? typeof values[0], description: `One of ${values.join(', ')}` }
}

const requestOf = (question: InputQuestion): ClientRequest => {
  if ('method' in question) return { method: question.method, params: question.params }
  const { properties, required } = question.schema ?? TEXT
  const requestedSchema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldOf(field)])),
    ...(required && { required }),
  }
  return { method: 'elicitation/create', params: { message: cleanText(question.message), requestedSchema } }
}

/** Returns the requests that ask a run's questions. */
export const requestsOf = (questions: readonly InputQuestions[]): ClientRequest[] =>
  questions.flatMap((each) => Object.values(each).map(requestOf))

/** Returns the requests that ask a run's questions, as far as the client takes them. */
export const requestsFor = (lane: Lane, questions: readonly InputQuestions[]): Record<string, ClientRequest> =>
  Object.fromEntries(
    questions
      .flatMap((each) =>
        Object.entries(each).map(([key, question]): [string, ClientRequest] => [key, requestOf(question)]),
      )
      .filter(([, { method, params }]) => takes(lane, method, params)),
  )

/** Reads a client's answers. @throws {McpError} `invalidParams` unless each is an object */
export const readResponses = (given: unknown): Record<string, Record<string, unknown>> => {
  if (isObject(given) && Object.values(given).every(isObject)) return given as Record<string, Record<string, unknown>>
  throw new McpError(MCP_ERRORS.invalidParams, 'inputResponses must be an object with an object for each key.')
}
