export { ReceiptUseEntity } from './entity.ts'
export { signReceipt, verifyOwnReceipt } from './sign.ts'
export { InvalidReceipt, type Receipt, verifyReceipt } from './verify.ts'
