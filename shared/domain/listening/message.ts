import { type ListenedMessage, ListenedMessageEntity } from '../../entities/listening.ts'
import { seal, unseal } from '../../kernel/sealed.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'
import type { OutgoingRequest } from '../ports.ts'

type Keeping = Pick<Deps, 'keys' | 'objects'>

/** Bytes of sealed text that stay in the table. A webhook's request and what is read of its answer always do. */
const IN_TABLE = 256 * 1_024

/** A request as it would have gone out. */
export interface RequestMessage extends Pick<OutgoingRequest, 'method' | 'url' | 'connectRetryPausesMs'> {
  /** Names in lower case. */
  headers: Record<string, string>
  /** Base64. */
  body: string
}

/** What came of it: an answer, or why there is none. */
export type AnswerMessage =
  | { status: number; headers: Record<string, string> /** Base64. */; body: string; truncated: boolean }
  | { failure: 'connect' | 'timeout' | 'reset' | 'decode' }

interface Messages {
  request: RequestMessage
  answer: AnswerMessage
}

const recordOf = (id: string, part: keyof Messages): string => `listened-${part}:${id}`

/** Seals a message into a record that is still to be written; what is too large for the table goes to the bucket first. */
export const sealedMessage = async <P extends keyof Messages>(
  { keys, objects }: Keeping,
  { id, deadline_at }: { id: string; deadline_at: number },
  part: P,
  message: Messages[P],
): Promise<ListenedMessage> => {
  const sealed = await seal(await keys.data(), recordOf(id, part), JSON.stringify(message))
  const record = { request_id: id, part, deadline_at }
  if (sealed.length <= IN_TABLE) return { ...record, content: { sealed } }
  // A place of its own for each try: of two answers at once, the one that comes too late does not overwrite the first.
  const object = `payloads/listening/${id}/${part}-${sha256(sealed)}`
  await objects.put(object, Buffer.from(sealed), 'application/jose')
  return { ...record, content: { object } }
}

/** Removes what {@link sealedMessage} put aside for a record that was not written in the end. */
export const discardMessage = async (
  { objects }: Pick<Deps, 'objects'>,
  { content }: Pick<ListenedMessage, 'content'>,
): Promise<void> => {
  if ('object' in content) await objects.delete(content.object)
}

/** Undefined when it is gone: nobody waits any more. */
export const openMessage = async <P extends keyof Messages>(
  { table, keys, objects }: Keeping & Pick<Deps, 'table'>,
  id: string,
  part: P,
): Promise<Messages[P] | undefined> => {
  const record = await table.get(ListenedMessageEntity, { request_id: id, part })
  if (!record) return undefined
  const { content } = record
  const bytes = 'sealed' in content ? undefined : await objects.get(content.object)
  const sealed = 'sealed' in content ? content.sealed : bytes && new TextDecoder().decode(bytes)
  return sealed === undefined ? undefined : JSON.parse(await unseal(await keys.data(), recordOf(id, part), sealed))
}

/** Removes both messages: they hold secrets, and nobody needs them once the answer is read. */
export const forgetMessages = async (
  { table, objects }: Pick<Deps, 'table' | 'objects'>,
  request_id: string,
): Promise<void> => {
  const parts = (['request', 'answer'] as const).map((part) => ({ request_id, part }))
  const records = await table.getAll(
    parts.map((part) => ({ entity: ListenedMessageEntity, key: ListenedMessageEntity.key(part) })),
  )
  for (const record of records) if (record) await discardMessage({ objects }, record)
  await table.transact(parts.map((part) => ListenedMessageEntity.delete(part)))
}
