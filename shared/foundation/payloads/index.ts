export { payload, payloadExpiry, type StoredPayload } from './payload.ts'
export { loadPayload, serializePayload, storePayload } from './payloads.ts'
export { cutPageToResponseSize, payloadBytes, RESPONSE_BYTES, textBytes } from './response-size.ts'
