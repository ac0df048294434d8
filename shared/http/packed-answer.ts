import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Text that resembles stored responses, against which they are compressed. An answer to `POST /runs` then fits into a
 * kilobyte with its record, and storing it costs half. It is part of the format.
 */
const DICTIONARY = Buffer.from(
  [
    '{"status":400,"headers":{"cache-control":"no-store","content-type":"application/json; charset=utf-8","x-request-id":"req_01"},"body":"{\\"error\\":{\\"code\\":\\"conflict\\",\\"message\\":\\"The run has already ended with the status \\",\\"fix\\":\\"Send the request again\\",\\"request_id\\":\\"req_01\\",\\"docs_url\\":\\"https://\\",\\"details\\":{\\"fields\\":{}}}}"}',
    '{"status":200,"headers":{"content-type":"application/json; charset=utf-8","x-request-id":"req_01"},"body":"{\\"items\\":[{\\"id\\":\\"stp_01\\",\\"seq\\":1,\\"type\\":\\"message\\",\\"status\\":\\"done\\",\\"output\\":{\\"text\\":\\"\\"},\\"tool\\":null,\\"created_at\\":\\"2026-01-01T00:00:00.000Z\\"}]}"}',
    '{"status":201,"headers":{"content-type":"application/json; charset=utf-8","x-request-id":"req_01"},"body":"{\\"id\\":\\"tsk_01\\",\\"title\\":\\"\\",\\"description\\":\\"\\",\\"assignee\\":{\\"installation_id\\":\\"ins_01\\"},\\"due_at\\":null,\\"conversation_id\\":\\"cnv_01\\",\\"message_id\\":\\"msg_01\\",\\"url\\":\\"https://\\",\\"step_id\\":\\"stp_01\\",\\"result\\":{\\"name\\":\\"\\"}}"}',
    '{"status":201,"headers":{"content-type":"application/json; charset=utf-8","x-request-id":"req_01"},"body":"{\\"id\\":\\"run_01\\",\\"status\\":\\"queued\\",\\"app_id\\":\\"app_01\\",\\"installation_id\\":\\"ins_01\\",\\"workspace_id\\":\\"ws_01\\",\\"agent\\":{\\"id\\":\\"\\",\\"version\\":\\"1.0.0\\"},\\"trigger\\":\\"api\\",\\"input\\":{\\"text\\":\\"\\"},\\"output\\":null,\\"error_code\\":null,\\"error_message\\":null,\\"error\\":null,\\"cost_units\\":null,\\"usage\\":null,\\"parent_run_id\\":null,\\"chain_depth\\":0,\\"created_at\\":\\"2026-01-01T00:00:00.000Z\\",\\"started_at\\":null,\\"finished_at\\":null,\\"duration_ms\\":null}"}',
  ].join(''),
)

/** Compresses a response. */
export const packAnswer = (answer: object): Buffer => deflateRawSync(JSON.stringify(answer), { dictionary: DICTIONARY })

/** Restores a compressed response. */
export const unpackAnswer = (packed: Uint8Array): unknown =>
  JSON.parse(inflateRawSync(packed, { dictionary: DICTIONARY }).toString())
