use openapi::apis::{configuration::Configuration, integration_api_api::api_me_read};

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let base_path = args.next().expect("address");
    let config = Configuration { base_path, oauth_access_token: args.next(), ..Default::default() };
    println!("{}", api_me_read(&config).await.expect("installation").installation.status);
}
