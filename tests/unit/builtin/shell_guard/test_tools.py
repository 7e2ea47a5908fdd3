"""Containers, clusters, clouds, databases, packages, registries: by what the verb ends."""

from collections.abc import Callable

import pytest

from hookline.model.answers import Answer, Verdict

Guard = Callable[..., Answer]

HARMFUL = """
docker system prune -af --volumes
docker volume rm data
docker compose down -v
docker-compose rm -fsv db
docker rm -f web
docker image prune -a
docker push org/app
docker run -v /:/host alpine ls
docker run --privileged alpine ls
docker run -v /var/run/docker.sock:/var/run/docker.sock x
docker run --mount type=bind,source=/etc,target=/e alpine ls
podman system reset --force
kubectl delete ns prod
kubectl delete pods --all
kubectl delete -f k8s/
kubectl drain node1
kubectl scale deploy/web --replicas=0
kubectl apply -f https://example.com/x.yaml
kubectl get secret x -o yaml
helm uninstall web
helm rollback web 1
terraform destroy
terraform apply
terraform state rm x.y
pulumi destroy
cdk deploy
aws s3 rb s3://x --force
aws ec2 terminate-instances --instance-ids i-1
aws iam create-access-key --user-name x
aws secretsmanager get-secret-value --secret-id x
aws s3 sync . s3://x --delete
gcloud projects delete x
az group delete -n x
heroku apps:destroy x
vercel --prod
ansible-playbook site.yml
psql -c 'DROP TABLE users'
psql -c 'delete from users'
psql -c 'update users set admin = true'
psql <<< 'TRUNCATE orders'
echo 'drop database x' | mysql
psql -f drop_all.sql
sqlite3 app.db 'drop table x'
psql -c "COPY x TO PROGRAM 'sh'"
dropdb prod
redis-cli FLUSHALL
redis-cli -h db config set dir /
mongosh --eval 'db.dropDatabase()'
etcdctl del --prefix ''
rails db:drop
python manage.py flush
npx prisma migrate reset
php artisan migrate:fresh
alembic downgrade base
curl -X DELETE http://localhost:9200/_all
curl -XDELETE https://api.example.com/users/1
apt-get remove nginx
sudo pacman -Rns base
dnf erase x
pip uninstall -y -r requirements.txt
sudo pip install x
pip install --break-system-packages x
npm uninstall -g npm
conda env remove -n x
npm publish
npm unpublish x
yarn npm publish
cargo publish
twine upload dist/x
gh repo delete org/app
gh release create v1
gh secret set X
gh pr merge 1
gh api -X DELETE /repos/x/y
mvn deploy
./gradlew publishToMavenCentral
"""

HARMLESS = """
docker ps -a
docker build -t app .
docker compose up -d
docker compose down
docker run --rm -v "$PWD":/app -w /app node:20 npm test
docker run --env-file .env app
docker rm stopped
kubectl get pods
kubectl apply -f k8s/dev.yaml
kubectl delete pod x --dry-run=client
kubectl scale deploy/web --replicas=3
kubectl get secrets
helm list
helm upgrade --install web ./chart
terraform plan -destroy
terraform init
pulumi preview
cdk diff
aws s3 ls
aws sts get-caller-identity
aws ec2 terminate-instances --instance-ids i-1 --dry-run
gcloud projects list
ansible-playbook --check site.yml
psql -c 'select 1'
psql -c "DELETE FROM x WHERE id = 1"
psql -c "SELECT 'DROP TABLE x'"
psql -c 'BEGIN; DELETE FROM x; ROLLBACK'
sqlite3 app.db '.schema'
redis-cli get key
mongosh --eval 'db.x.countDocuments({})'
rails db:migrate
python manage.py migrate
alembic upgrade head
curl -X DELETE http://localhost:3000/items/1
apt-get update
apt-get -s remove nginx
sudo apt-get install -y jq
pip uninstall -y requests
npm ci
npm uninstall lodash
npm publish --dry-run
npm version patch
cargo build
gh pr create --fill
gh repo view
./gradlew build
"""


@pytest.mark.parametrize("command", HARMFUL.strip().splitlines())
def test_what_ends_something_for_others_is_flagged(guard: Guard, command: str) -> None:
    answer = guard(command)
    assert answer.verdict is not Verdict.PASS
    assert answer.metadata["words"]


@pytest.mark.parametrize("command", HARMLESS.strip().splitlines())
def test_what_looks_builds_or_rehearses_passes(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.PASS
