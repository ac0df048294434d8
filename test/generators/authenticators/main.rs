//! An authenticator with one passkey. It reads a ceremony as JSON from each line, and prints the credential's answer.

use passkey::authenticator::{Authenticator, UiHint, UserCheck, UserValidationMethod};
use passkey::client::{Client, DefaultClientData};
use passkey::crypto::rust_crypto::RustCryptoBackend;
use passkey::types::webauthn::{CredentialCreationOptions, CredentialRequestOptions};
use passkey::types::{Passkey, ctap2::Aaguid, ctap2::Ctap2Error};
use serde_json::{Value, from_value, json, to_string};
use std::io::stdin;
use url::Url;

struct Present;

#[async_trait::async_trait]
impl UserValidationMethod for Present {
    type PasskeyItem = Passkey;

    async fn check_user<'a>(
        &self,
        _hint: UiHint<'a, Self::PasskeyItem>,
        presence: bool,
        verification: bool,
    ) -> Result<UserCheck, Ctap2Error> {
        Ok(UserCheck { presence, verification })
    }

    fn is_verification_enabled(&self) -> Option<bool> {
        Some(true)
    }

    fn is_presence_enabled(&self) -> bool {
        true
    }
}

#[tokio::main]
async fn main() {
    let store: Option<Passkey> = None;
    let authenticator = Authenticator::new(Aaguid::new_empty(), store, Present, RustCryptoBackend);
    let mut client = Client::new(authenticator).allows_insecure_localhost(true);
    for line in stdin().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let origin = Url::parse(asked["origin"].as_str().unwrap()).unwrap();
        let options = json!({ "publicKey": asked["options"] });
        let answer = if asked["type"] == "create" {
            let request: CredentialCreationOptions = from_value(options).unwrap();
            to_string(&client.register(&origin, request, DefaultClientData).await.unwrap())
        } else {
            let request: CredentialRequestOptions = from_value(options).unwrap();
            to_string(&client.authenticate(&origin, request, DefaultClientData).await.unwrap())
        };
        println!("{}", answer.unwrap());
    }
}
