/**
 * Takes the place of `@aws-sdk/signature-v4-multi-region` in the bundles (4 KB): EventBridge signs for several regions when it puts events
 * to a global endpoint, and the platform has one bus in one region.
 */
export { SignatureV4 as SignatureV4MultiRegion } from '@smithy/signature-v4'
